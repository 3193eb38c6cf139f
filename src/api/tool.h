// Defines what the typed functions of the tool information interface share: checks that the interface is in
// use and that an index is valid, and a function that finds the object to which a variable is bound. Any
// thread.
// Tested by: tests/mpi/tool/events.cc, tests/mpi/tool/cvars.cc.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/door.h"
#include "comm/comm.h"
#include "tool/tool.h"

namespace lanyard {

// A typed function of the tool interface holds this guard throughout, except while it calls a function of the
// program. lanyard_t_init_thread and lanyard_t_finalize do not create a guard, because tool::begin_use() and
// tool::end_use() take the lock themselves.
class ToolGuard {
public:
    Error check() const {
        if (tool::in_use()) return {};
        return tool::failure(abi::t_err_not_initialized,
                             "MPI_T_init_thread has not been called, or MPI_T_finalize has since");
    }

private:
    std::lock_guard<std::mutex> guard_{tool::tool_lock()};
};

template <class Row>
Error check_index(const std::vector<Row> &table, int index) {
    if (index >= 0 && static_cast<size_t>(index) < table.size()) return {};
    return tool::failure(abi::t_err_invalid_index, "the index is " + std::to_string(index) +
                                                       ", but there are " + std::to_string(table.size()));
}

// Stores the index of the row with this name, or returns an error if there is none.
template <class Row>
Error find_name(const std::vector<Row> &table, std::string_view name, int *index) {
    for (size_t i = 0; i < table.size(); ++i) {
        if (table[i].name != name) continue;
        tool::give(index, i);
        return {};
    }
    return tool::failure(abi::t_err_invalid_name, "there is no \"" + std::string(name) + "\"");
}

// Finds the communicator that the program names. `bound` holds no reference to it yet: the function that
// makes a handle from `bound` takes one. Does nothing unless `of_comm` is true.
inline Error find_bound(bool of_comm, ToolObject object, tool::Bound &bound) {
    if (!of_comm) return {};
    Comm *comm = object.handle ? object.door->tool_comm(object.handle) : nullptr;
    if (!comm)
        return tool::failure(abi::t_err_invalid,
                             "the object to bind to is not the address of a communicator's handle");
    bound = {&comm->team, comm, [](Object *held) { release_comm(static_cast<Comm *>(held)); }};
    return {};
}

inline Error check_place(const void *place) {
    return place ? Error()
                 : tool::failure(abi::t_err_invalid, "a result is wanted, but there is no place for it");
}

}  // namespace lanyard
