// Composes the error sentences of losses.h.
#include "p2p/losses.h"

#include <utility>

namespace lanyard {

Error Losses::tell(uint32_t peer, const char *what) {
    Loss &loss = losses_[peer];
    loss.told = true;
    std::string text = std::string(what) + " cannot be reached any more: " + loss.why;
    if (loss.messages == 1)
        text += "; a message of " + std::to_string(loss.bytes) +
                " bytes that was sent to it before may not have arrived";
    if (loss.messages > 1)
        text += "; " + std::to_string(loss.messages) + " messages (" + std::to_string(loss.bytes) +
                " bytes in all) that were sent to it before may not have arrived";
    return Error(ErrorClass::proc_aborted, std::move(text));
}

Error Losses::untold() {
    Error all;
    for (auto &[peer, loss] : losses_) {
        if (loss.told || loss.messages == 0) continue;
        Error one = tell(peer, "a process that messages were sent to");
        if (all) all = Error(ErrorClass::proc_aborted, all.take().sentence + "; and " + one.take().sentence);
        else all = one;
    }
    return all;
}

}  // namespace lanyard
