// A communicator. Hot fields first: a send reads the first cache line and `peers`. MPI-5.0 chapter 7.
#pragma once

#include <cstdint>
#include <string>

#include "base/object.h"
#include "coll/team.h"
#include "comm/group.h"

namespace lanyard {

struct Universe;    // universe.h: what all communicators of a runtime share
struct Attributes;  // attributes.h
struct Errhandler;  // errhandler.h
struct Info;        // info.h

struct Comm : Object {
    uint64_t context = 0;             // even; collective traffic sets bit 0
    const uint32_t *peers = nullptr;  // by rank: those a rank argument names (the remote group of an intercommunicator)
    int size = 0;                     // how many those are
    int rank = 0;                     // this process in its own group
    Universe *universe = nullptr;
    Group *group = nullptr;
    Group *remote_group = nullptr;  // of an intercommunicator, else nullptr
    Team team;
    Errhandler *errhandler = nullptr;
    Attributes *attributes = nullptr;
    Info *info = nullptr;
    std::string name;
};

}  // namespace lanyard
