// A Waiting states what this process waits for. It writes this into the process's wait record, which the
// launcher can read. If a profile was requested, it also reports the wait to the profile.
// Tested by: tests/launch/test_mpi.py, tests/failures/test_messages.py.
#pragma once

#include <cstdint>

#include "base/wait_record.h"
#include "comm/comm.h"
#include "tool/profile.h"

namespace lanyard {

// One wait of a thread. While a Waiting exists, the process's wait record describes the wait. If several
// threads wait, the record describes the latest wait. The engine's owner creates and destroys a Waiting. The
// objects passed to the constructor must outlive the Waiting. Requires a runtime.
class Waiting {
public:
    // `call` is the name of the MPI function, at most 31 characters. `peer` is -32766 if the call names no
    // rank. For a collective, `peer` is the root, or -32766 if there is no root, and `sequence` is the
    // collective's number.
    Waiting(const char *call, tool::WaitFor what, const Comm *comm, int peer, int tag, uint64_t sequence = 0);
    // For a call on requests, which `parts` describes. `comm` is nullptr if the requests belong to several
    // communicators.
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
    uint64_t since_ns_ = 0;  // the start of this wait, saved while the record shows a later wait
    Waiting *others_;        // the next older wait
    // For the profile: the reason, the start, and the value of Profile::moved_ns() at the start.
    tool::WaitFor what_;
    uint64_t began_ns_ = 0, moved_ns_ = 0;
};

}  // namespace lanyard
