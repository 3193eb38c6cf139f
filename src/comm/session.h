// Defines sessions (MPI-5.0 section 11.3), and the traits that the groups and communicators of a session keep
// even if the session is finalised before them. The API creates and ends sessions; any thread.
// Tested by: tests/mpi/sessions/only.cc, tests/mpi/sessions/queries.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/object.h"
#include "base/pool.h"

namespace lanyard {

struct Errhandler;  // errhandler.h
class SendBuffer;   // api/bsend.h

// The kinds of memory in which a buffer may always lie (MPI-5.0 11.4.3): memory of the system, and memory of
// MPI_Alloc_mem and similar functions.
constexpr const char *minimal_alloc_kinds = "system,mpi";
// The minimal kinds, and the kinds of the requested list that are supported. Commas separate the kinds of
// both lists.
std::string supported_alloc_kinds(std::string_view requested);

struct SessionTraits {
    std::string alloc_kinds = minimal_alloc_kinds;
    // Used for buffered sends on communicators that have no buffer of their own.
    std::shared_ptr<SendBuffer> send_buffer;
};

struct Session : Object {
    Errhandler *errhandler = nullptr;
    int thread_level = 0;
    std::shared_ptr<const SessionTraits> traits;
};

ObjectPool<Session> &session_pool();

}  // namespace lanyard
