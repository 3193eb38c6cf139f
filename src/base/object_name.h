// An ObjectName is the name of an object, such as a communicator or a datatype, that the program can set and
// read by MPI calls. Messages about the object contain the name. Several threads may use one object at the
// same time, so a reader copies the name under a lock.
// Thread rule: any thread.
// Tested by: tests/unit/base/object_name_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "base/spin_lock.h"

namespace lanyard {

class ObjectName {
public:
    // The name, empty if none is set.
    std::string get() const {
        SpinGuard guard(lock_);
        return text_;
    }
    // Calls read(const std::string &) with the name, under the lock: for callers that copy it elsewhere.
    template <class Read>
    void look(Read read) const {
        SpinGuard guard(lock_);
        read(text_);
    }
    void set(std::string_view name) {
        // Memory is allocated before the lock is held, and freed afterwards.
        std::string other(name);
        SpinGuard guard(lock_);
        text_.swap(other);
    }

private:
    std::string text_;
    mutable SpinLock lock_;
};

}  // namespace lanyard
