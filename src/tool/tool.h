// The tool information interface (MPI-5.0 chapter 15) below its typed functions: whether it is in use, what
// it needs of the running library, its enumerations, and how results are returned. It belongs to the process:
// a tool may use it before MPI_Init and after MPI_Finalize.
//
// Thread rule: every function of the interface holds tool_lock() while it uses a table, a handle or a
// session, but never while a function of the program runs. Counters are read as base/counters.h describes.
// Errors have codes MPI_T_ERR_x and are only returned.
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

// The names of the values of an MPI_INT, or of the elements of an event, from 0 on. Lives until exit.
struct ToolEnum : Object {
    std::string name;
    std::vector<std::string> items;
};

namespace tool {

// A communicator to which a variable or event is bound, as far as this layer can use one. A handle holds it.
struct Bound {
    Team *team = nullptr;  // nullptr: bound to nothing
    Object *object = nullptr;
    void (*let_go)(Object *) = nullptr;

    void hold() const {
        if (object) object->hold();
    }
    void release() const {
        if (object) let_go(object);
    }
};

// What a running library does for tools, from its creation until the process ends.
class Host {
public:
    virtual Settings &settings() = 0;
    // Calls `act` while no thread makes progress or calls functions of the program. Under tool_lock(), which
    // `act` must not take.
    virtual void while_still(const std::function<void()> &act) = 0;
    // Settings that may change at any time have been changed. Called within while_still().
    virtual void settings_changed() = 0;
    // Sets the function that a thread of the program calls when it has left the library; nullptr: none.
    virtual void call_after_leaving(void (*function)()) = 0;

protected:
    ~Host() = default;
};
// nullptr: there is none yet. Set once, under tool_lock().
Host *host();
void set_host(Host *host);

std::mutex &tool_lock();

// Count how often the interface has been initialised and not yet finalised. The last finalisation frees the
// remaining handles and sessions.
Error begin_use();
Error end_use();
bool in_use();  // under tool_lock()

Error failure(int code, std::string sentence);

// An enumeration of values from 0 on. Never freed.
const ToolEnum *make_enumeration(std::string name, std::vector<std::string> items);
bool is_enumeration(const void *address);

// Returns a text as MPI-5.0 15.3.3 requires: at most *length - 1 characters and a null. *length becomes what
// the whole text needs.
void give_text(std::string_view text, char *to, int *length);

// Stores a result, unless the caller passed a null pointer.
template <class T, class V>
void give(T *to, V value) {
    if (to) *to = static_cast<T>(value);
}

int verbosity_of(Audience audience);

}  // namespace tool
}  // namespace lanyard
