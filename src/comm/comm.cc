// See comm.h.
#include "comm/comm.h"

#include "coll/executor.h"
#include "comm/attributes.h"
#include "comm/create.h"
#include "comm/error_codes.h"
#include "comm/info.h"
#include "comm/universe.h"

namespace lanyard {

int compare(const Comm &first, const Comm &second) {
    if (&first == &second) return abi::ident;
    if (!first.remote_group != !second.remote_group) return abi::unequal;
    int alike = compare_peers(first.group->peers, second.group->peers);
    if (first.remote_group && alike != abi::unequal) {
        int remote = compare_peers(first.remote_group->peers, second.remote_group->peers);
        if (remote != abi::ident) alike = remote;
    }
    return alike == abi::ident ? abi::congruent : alike;
}

void release_comm(Comm *comm) {
    if (!comm || !comm->let_go()) return;
    if (comm->universe->executor) comm->universe->executor->forget(comm->team);
    leave_area(*comm);
    if (comm->promised) comm->universe->messenger.posted().promises().set(comm->context, 0);
    release_group(comm->group);
    release_group(comm->remote_group);
    release_errhandler(comm->errhandler);
    comm->universe->comms.destroy(comm);
}

Error free_comm(Comm *&comm) {
    if (Error error = delete_attributes(comm->attributes, comm)) return error;
    comm->end_handle();
    release_comm(comm);
    comm = nullptr;
    return {};
}

namespace {

constexpr struct {
    const char *key;
    uint8_t bit;
} assertions[] = {{"mpi_assert_no_any_tag", promise::no_any_tag},
                  {"mpi_assert_no_any_source", promise::no_any_source},
                  {"mpi_assert_exact_length", promise::exact_length},
                  {"mpi_assert_allow_overtaking", promise::allow_overtaking}};

}  // namespace

Error set_hints(Comm &comm, const Info *hints) {
    if (!hints) return {};
    uint8_t promised = comm.promised;
    for (auto [key, bit] : assertions) {
        std::string value;
        bool found = false;
        if (Error error = hints->get(key, value, found)) return error;
        if (found && value == "true") promised |= bit;
        if (found && value == "false") promised &= static_cast<uint8_t>(~bit);
    }
    comm.promised = promised;
    if (comm.context) tell_promises(comm);
    return {};
}

void tell_promises(Comm &comm) {
    comm.universe->messenger.posted().promises().set(comm.context, comm.promised);
}

Info *hints_of(const Comm &comm) {
    Info *hints = new_info();
    if (!hints) return nullptr;
    const std::string &kinds =
        comm.group->session ? comm.group->session->alloc_kinds : comm.universe->alloc_kinds;
    hints->set("mpi_memory_alloc_kinds", kinds).discard();
    for (auto [key, bit] : assertions) hints->set(key, comm.promised & bit ? "true" : "false").discard();
    return hints;
}

int *predefined_attribute(Comm &comm, int keyval) {
    auto &values = comm.universe->predefined;
    auto known = [](int &value) { return value == abi::undefined ? nullptr : &value; };
    switch (keyval) {
        case abi::tag_ub: return &values.tag_ub;
        case abi::host: return &values.host;
        case abi::io: return &values.io;
        case abi::wtime_is_global: return &values.wtime_is_global;
        case abi::appnum: return known(values.appnum);
        case abi::universe_size: return known(values.universe_size);
        case abi::lastusedcode: return last_used_code();
        default: return nullptr;
    }
}

}  // namespace lanyard
