// Is it worth trying once more what may be done in vain? After some trials in a row that were, only now and then.
#pragma once

#include <cstdint>

namespace lanyard {

class WorthTrying {
public:
    bool ask(uint32_t most_in_vain, uint32_t every) {
        return in_vain_ < most_in_vain || ++passed_over_ % every == 0;
    }
    void in_vain() { ++in_vain_; }
    void worked() { in_vain_ = 0; }

private:
    uint32_t in_vain_ = 0, passed_over_ = 0;
};

}  // namespace lanyard
