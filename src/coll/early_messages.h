// Messages of collectives that arrived before this rank had started those, or after they had ended. Their
// check words show that ranks do not call the same collectives, even if no receive ever matches them. The
// latest few are kept. If one is dropped, a mismatch may go unreported, and nothing else is affected. Used by
// the executor.
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coll/team.h"

namespace lanyard {

struct EarlyMessage {
    uint64_t context;
    uint32_t number;  // of the collective, as in the tag
    bool persistent;  // of a persistent collective; these have numbers of their own
    uint32_t check;
    int32_t source;
};

class EarlyMessages {
public:
    bool empty() const { return count_ == 0; }
    void add(const EarlyMessage &message);
    // Removes the messages of the team's collective `number`, which is about to start, and of earlier ones.
    // True: one of them does not agree with what this rank does (team.recent), and is in `found`.
    bool take_disagreeing(const Team &team, uint32_t number, EarlyMessage &found);
    // The same for the messages of a persistent collective that is about to start and has this word.
    bool take_disagreeing_persistent(const Team &team, uint32_t number, uint32_t word, EarlyMessage &found);

private:
    static constexpr size_t most = 16;

    // Removes those for which belongs() is true. True: some of them do not fit(), and the last of these is in
    // `found`.
    template <class Belongs, class Fits>
    bool take(Belongs belongs, Fits fits, EarlyMessage &found);

    EarlyMessage messages_[most] = {};
    size_t count_ = 0;
    size_t next_ = 0;  // the place to overwrite next once all are in use
};

}  // namespace lanyard
