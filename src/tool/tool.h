// This header is the base of the tool information interface, MPI_T (MPI-5.0 chapter 15). It declares whether
// the interface is in use, what the interface needs of the running library, its enumerations, and how results
// are returned. The typed functions use all of this. The state of the interface belongs to the process: a
// tool may use the interface before MPI_Init and after MPI_Finalize.
//
// Thread rule: every function of the interface holds tool_lock() while it uses a table, a handle or a
// session, but never while a function of the program runs. Counters are read as base/counters.h describes.
// Errors have codes MPI_T_ERR_x. The interface returns them and calls no error handler.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/abi_constants.h"
#include "base/audience.h"
#include "base/error.h"
#include "base/object.h"
#include "config/settings.h"

namespace lanyard {

struct Team;

// An enumeration (MPI_T_enum): names for the numbers 0, 1, 2, ... The numbers are values of a variable of
// type MPI_INT, or elements of an event. It exists until exit.
struct ToolEnum : Object {
    std::string name;
    std::vector<std::string> items;
};

namespace tool {

// The communicator to which a variable or event is bound, in the form that this layer can use. A handle keeps
// the communicator alive.
struct Bound {
    Team *team = nullptr;  // nullptr if bound to no communicator
    Object *object = nullptr;
    void (*let_go)(Object *) = nullptr;

    void hold() const {
        if (object) object->hold();
    }
    void release() const {
        if (object) let_go(object);
    }
};

// What the running library does for tools. It exists from the end of the runtime's creation until the process
// ends.
class Host {
public:
    virtual Settings &settings() = 0;
    // Calls `act` while no other thread makes progress. Reduction functions of the program are called as a
    // part of progress, so none of them runs then. The caller holds tool_lock(), so `act` must not take that
    // lock.
    virtual void while_still(const std::function<void()> &act) = 0;
    // Lets the library use settings that have been changed. Called within while_still().
    virtual void settings_changed() = 0;
    // Sets the function that a thread of the program calls when it has left the engine; nullptr for none.
    virtual void call_after_leaving(void (*function)()) = 0;

protected:
    ~Host() = default;
};
// The host; nullptr until the creation of the runtime is complete. It is set once, under tool_lock().
Host *host();
void set_host(Host *host);

std::mutex &tool_lock();

// These two functions count how often the interface has been initialised and not yet finalised. The last
// finalisation frees the remaining handles, sessions and event registrations. But event registrations stay if
// a function of the program that is being called for an event finalises the interface. The two functions take
// tool_lock() themselves.
Error begin_use();
Error end_use();
bool in_use();  // call under tool_lock()

Error failure(int code, std::string sentence);

// Creates an enumeration whose items name the numbers 0, 1, 2, ... It is never freed.
const ToolEnum *make_enumeration(std::string name, std::vector<std::string> items);
bool is_enumeration(const void *address);

// Returns a text as MPI-5.0 15.3.3 requires: stores at most *length - 1 characters and a null, and sets
// *length to the number of characters that the whole text needs, including the null.
void give_text(std::string_view text, char *to, int *length);

// Stores a result, unless the pointer of the program is null.
template <class T, class V>
void give(T *to, V value) {
    if (to) *to = static_cast<T>(value);
}

int verbosity_of(Audience audience);

}  // namespace tool
}  // namespace lanyard
