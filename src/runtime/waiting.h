// What this process waits for, as its record shows it to the launcher and, where there is one, to the profile.
#pragma once

#include <cstdint>

#include "base/wait_record.h"
#include "comm/comm.h"
#include "tool/profile.h"

namespace lanyard {

// While it exists the process's record says what it waits for; of several (threads) the latest. Made and ended by the
// engine's owner. The arguments live at least as long.
class Waiting {
public:
    // `call` has at most 31 characters. peer -32766: the call names none. Of a collective: its root, or none, and its number.
    Waiting(const char *call, tool::WaitFor what, const Comm *comm, int peer, int tag, uint64_t sequence = 0);
    // A call on requests. `comm` is nullptr where they are on several.
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
    uint64_t since_ns_ = 0;  // while another is shown
    Waiting *others_;        // the next latest
    tool::WaitFor what_;     // for the profile, as are the next two
    uint64_t began_ns_ = 0, moved_ns_ = 0;
};

}  // namespace lanyard
