// System calls that this process may not make. A filter of system calls (seccomp) usually answers EPERM;
// older container engines do so for every call that they do not know. A kernel or sandbox without the call
// answers ENOSYS. The caller then uses another call for the same purpose, if it has one.
#pragma once

#include <errno.h>

namespace lanyard {

// `result`: at least 0, or -errno. The network also reports EPERM and EACCES for packets that a firewall
// blocks.
inline bool may_be_refused(long result) {
    return result < 0 && (result == -EPERM || result == -EACCES || result == -ENOSYS);
}

}  // namespace lanyard
