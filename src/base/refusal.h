// Recognises system calls that this process may not make. A filter of system calls (seccomp) usually returns
// EPERM. The filters of older container engines return EPERM for every call that they do not know. A kernel
// or sandbox that lacks a call returns ENOSYS. The code that made the call then uses another call for the
// same purpose, if there is one.
// Tested by: tests/failures/test_refused_calls.py.
#pragma once

#include <errno.h>

namespace lanyard {

// True if this result of a system call (at least 0, or -errno) may mean that the call is not allowed. For
// packets, EPERM and EACCES may also mean that a firewall blocks them.
inline bool may_be_refused(long result) {
    return result < 0 && (result == -EPERM || result == -EACCES || result == -ENOSYS);
}

}  // namespace lanyard
