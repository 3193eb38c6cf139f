// A session (MPI-5.0 section 11.3), and what the groups and communicators made from it keep of it, though it may be finalised before
// them. Sessions are made and ended by the API; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/object.h"
#include "base/pool.h"

namespace lanyard {

struct Errhandler;  // errhandler.h
class SendBuffer;   // api/bsend.h

// Kinds of memory that any buffer may have (MPI-5.0 11.4.3): that of the system, and that of MPI_Alloc_mem and the like.
constexpr const char *minimal_alloc_kinds = "system,mpi";
// Of a list of kinds that the program asks for, those that are supported, and the minimal ones.
std::string supported_alloc_kinds(std::string_view requested);

struct SessionTraits {
    std::string alloc_kinds = minimal_alloc_kinds;
    std::shared_ptr<SendBuffer> send_buffer;  // for buffered sends on communicators without one of their own
};

struct Session : Object {
    Errhandler *errhandler = nullptr;
    int thread_level = 0;
    std::shared_ptr<const SessionTraits> traits;
};

ObjectPool<Session> &session_pool();

}  // namespace lanyard
