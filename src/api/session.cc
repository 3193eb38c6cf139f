// Defines the typed functions (types.h) of sessions (MPI-5.0 section 11.3). Any thread.
// Tested by: tests/mpi/sessions/queries.cc, tests/mpi/sessions/only.cc.
#include "comm/session.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "api/activity.h"
#include "api/bsend.h"
#include "api/generated/core.h"
#include "comm/errhandler.h"
#include "comm/info.h"
#include "runtime/process_sets.h"
#include "runtime/runtime.h"

namespace lanyard {

namespace {

constexpr int number_of_sets = std::size(process_sets);

struct ThreadLevel {
    int level;
    const char *name;
};
constexpr ThreadLevel thread_levels[] = {
    {abi::thread_single, "MPI_THREAD_SINGLE"},
    {abi::thread_funneled, "MPI_THREAD_FUNNELED"},
    {abi::thread_serialized, "MPI_THREAD_SERIALIZED"},
    {abi::thread_multiple, "MPI_THREAD_MULTIPLE"},
};

Error no_memory(const char *what) {
    return Error(ErrorClass::no_mem, std::string("there is no memory left for another ") + what);
}

// The value of the key, or "" if the key is absent.
std::string value_of(const Info *info, const char *key) {
    std::string value;
    bool found = false;
    if (info) info->get(key, value, found).discard();
    return found ? value : "";
}

// If the program requests no level, the level is MPI_THREAD_MULTIPLE. This costs nothing more, because the
// engine is never single-threaded while a session exists: libraries in one process begin sessions
// independently. MPI-5.0 11.3.1 advises against MPI_THREAD_SINGLE as the default.
Error read_thread_level(const Info *info, int &level) {
    std::string wanted = value_of(info, "thread_level");
    level = abi::thread_multiple;
    if (wanted.empty()) return {};
    for (const ThreadLevel &each : thread_levels) {
        if (wanted != each.name) continue;
        level = each.level;
        return {};
    }
    return Error(ErrorClass::info_value, "thread_level is \"" + wanted +
                                             "\", which is none of MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, " +
                                             "MPI_THREAD_SERIALIZED and MPI_THREAD_MULTIPLE");
}

Error unknown_set(std::string_view name) {
    std::string known;
    for (const char *each : process_sets) known += (known.empty() ? "" : ", ") + std::string(each);
    return Error(ErrorClass::arg,
                 "there is no process set \"" + std::string(name) + "\"; the sets are " + known);
}

}  // namespace

Error find_process_set(const Runtime &runtime, std::string_view name, Peers &peers) {
    ProcessSet set = process_set_called(name);
    auto own = static_cast<uint32_t>(runtime.bootstrap->rank());
    auto chosen = [&](uint32_t peer) {
        if (set == ProcessSet::world) return true;
        return set == ProcessSet::self ? peer == own : runtime.universe->on_my_node(peer);
    };
    peers.clear();
    if (set == ProcessSet::none) return unknown_set(name);
    for (uint32_t peer = 0; peer < static_cast<uint32_t>(runtime.bootstrap->size()); ++peer)
        if (chosen(peer)) peers.push_back(peer);
    return {};
}

extern "C" {

Error lanyard_session_init(Info *info, Errhandler &errhandler, Session **session) {
    int level;
    if (Error error = read_thread_level(info, level)) return error;
    if (errhandler.action == Errhandler::Action::call && errhandler.kind != ObjectKind::session)
        return Error(ErrorClass::errhandler,
                     "the error handler was made for another kind of object, not for sessions");
    if (Error error = begin_session()) return error;
    Session *made = session_pool().create();
    if (!made) {
        end_session().discard();
        return no_memory("session");
    }
    auto traits = std::make_shared<SessionTraits>();
    traits->alloc_kinds = supported_alloc_kinds(value_of(info, "mpi_memory_alloc_kinds"));
    traits->send_buffer = make_send_buffer();
    made->traits = traits;
    made->thread_level = level;
    replace_errhandler(made->errhandler, errhandler);
    *session = made;
    return {};
}

// Communicators derived from the session may still exist, as MPI allows, but the program must not
// use them any more.
Error lanyard_session_finalize(Session *&session) {
    flush_buffer_of(*session, "MPI_Session_finalize");
    if (Error error = end_session()) return error;
    release_errhandler(session->errhandler);
    session_pool().destroy(session);
    session = nullptr;
    return {};
}

Error lanyard_session_get_info(Session &session, Info **info_used) {
    Info *info = new_info();
    if (!info) return no_memory("info object");
    for (const ThreadLevel &each : thread_levels)
        if (each.level == session.thread_level) info->set("thread_level", each.name).discard();
    info->set("mpi_memory_alloc_kinds", session.traits->alloc_kinds).discard();
    *info_used = info;
    return {};
}

Error lanyard_session_get_num_psets(Session &, Info *, int *npset_names) {
    *npset_names = number_of_sets;
    return {};
}

// On entry, `pset_len` is the size of the array `pset_name`, including the zero byte. On return, it is
// the size that the complete name needs. If `pset_len` is 0 on entry, the program wants to know only this
// size.
Error lanyard_session_get_nth_pset(Session &, Info *, int n, int *pset_len, char *pset_name) {
    if (n < 0 || n >= number_of_sets)
        return Error(ErrorClass::arg, "there is no process set number " + std::to_string(n) + "; there are " +
                                          std::to_string(number_of_sets) + ", counted from 0");
    if (*pset_len > 0 && !pset_name)
        return Error(ErrorClass::arg,
                     "pset_name is a null pointer, though pset_len is " + std::to_string(*pset_len));
    std::string_view name = process_sets[n];
    if (*pset_len > 0) {
        size_t length = std::min(name.size(), static_cast<size_t>(*pset_len) - 1);
        std::memcpy(pset_name, name.data(), length);
        pset_name[length] = 0;
    }
    *pset_len = static_cast<int>(name.size()) + 1;
    return {};
}

Error lanyard_session_get_pset_info(Session &, const char *pset_name, Info **info) {
    Peers peers;
    if (Error error = find_process_set(*runtime(), pset_name, peers)) return error;
    *info = new_info();
    if (!*info) return no_memory("info object");
    return (*info)->set("mpi_size", std::to_string(peers.size()));
}

}  // extern "C"

}  // namespace lanyard
