// What this process waits for. Its record shows this to the launcher and, if there is one, to the profile.
#pragma once

#include <cstdint>

#include "base/wait_record.h"
#include "comm/comm.h"
#include "tool/profile.h"

namespace lanyard {

// While it exists, the process's record states what it waits for; if several threads wait, the latest wait.
// The engine's owner creates and destroys it. The arguments must live as long.
class Waiting {
public:
    // `call` has at most 31 characters. peer -32766: the call names none. For a collective, `peer` is its
    // root, or none, and `sequence` its number.
    Waiting(const char *call, tool::WaitFor what, const Comm *comm, int peer, int tag, uint64_t sequence = 0);
    // For a call on requests. `comm` is nullptr if they are on several communicators.
    Waiting(const char *call, const Comm *comm, const WaitParts &parts);
    ~Waiting();
    Waiting(const Waiting &) = delete;
    Waiting &operator=(const Waiting &) = delete;

private:
    void show();
    void publish() const;
    void count() const;

    const char *call_;
    const Comm *comm_;
    int peer_, tag_;
    uint64_t sequence_;
    const WaitParts *parts_ = nullptr;
    uint64_t since_ns_ = 0;  // since when it waits, while another wait is shown
    Waiting *others_;        // the next older wait
    tool::WaitFor what_;     // for the profile, like the next two
    uint64_t began_ns_ = 0, moved_ns_ = 0;
};

}  // namespace lanyard
