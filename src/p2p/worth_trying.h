// Decides whether an action that may fail is worth another try. After a number of failures in a row, the
// action is tried only from time to time.
// Thread rule: one thread at a time; in the library, the owner of the engine.
// Tested by: tests/unit/p2p/rendezvous_receive_test.cc, tests/sim/write_test.cc.
#pragma once

#include <cstdint>

namespace lanyard {

class WorthTrying {
public:
    // Is another try worthwhile? After most_in_vain failures in a row, only every `every`-th call is true.
    bool ask(uint32_t most_in_vain, uint32_t every) {
        return in_vain_ < most_in_vain || ++passed_over_ % every == 0;
    }
    void in_vain() { ++in_vain_; }
    void worked() { in_vain_ = 0; }

private:
    uint32_t in_vain_ = 0, passed_over_ = 0;
};

}  // namespace lanyard
