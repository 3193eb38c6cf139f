#include "comm/comm.h"

#include "comm/attributes.h"
#include "comm/create.h"
#include "comm/error_codes.h"
#include "comm/info.h"
#include "comm/universe.h"

namespace lanyard {

std::string name_of(const Comm &comm) {
    SpinGuard guard(comm.name_lock);
    return comm.name;
}

void set_name(Comm &comm, std::string_view name) {
    SpinGuard guard(comm.name_lock);
    comm.name = name;
}

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
    leave_area(*comm);
    release_group(comm->group);
    release_group(comm->remote_group);
    release_errhandler(comm->errhandler);
    comm->universe->comms.destroy(comm);
}

Error free_comm(Comm *&comm) {
    if (Error error = delete_attributes(comm->attributes, comm)) return error;
    release_comm(comm);
    comm = nullptr;
    return {};
}

// None of the standard's hints changes what this library does yet, so nothing is kept.
Error set_hints(Comm &, const Info *) { return {}; }

Info *hints_of(const Comm &) {
    Info *hints = new_info();
    if (hints) hints->set("mpi_memory_alloc_kinds", "system,mpi").discard();
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
