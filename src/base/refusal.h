// Calls that this process may not make: a filter of system calls (seccomp) answers EPERM as a rule, older container engines do so for every call
// that they do not know; a kernel or a sandbox without the call says ENOSYS. Whoever has another call for the same purpose makes that then.
#pragma once

#include <errno.h>

namespace lanyard {

// `result`: at least 0, or -errno. The network says EPERM and EACCES too, of what a firewall does not let out.
inline bool may_be_refused(long result) {
    return result < 0 && (result == -EPERM || result == -EACCES || result == -ENOSYS);
}

}  // namespace lanyard
