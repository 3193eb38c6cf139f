// Messages of collectives that came before this rank had started those, or after they were over: by their check words it is found
// out that ranks do not call the same collectives, though no receive ever matched them. The latest few are kept; one that is
// forgotten is a mismatch not told, nothing worse. Belongs to the executor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coll/team.h"

namespace lanyard {

struct EarlyMessage {
    uint64_t context;
    uint32_t number;  // of the collective, as in the tag
    bool persistent;  // one of these, which have numbers of their own
    uint32_t check;
    int32_t source;
};

class EarlyMessages {
public:
    bool empty() const { return count_ == 0; }
    void add(const EarlyMessage &message);
    // Takes out those that belong to the team's collective `number`, which is about to start, or to earlier ones. True where one of them
    // does not agree with what this rank does (team.recent): then it is in `found`.
    bool take_disagreeing(const Team &team, uint32_t number, EarlyMessage &found);
    // The same for those of a persistent collective, which is about to be started and has this word.
    bool take_disagreeing_persistent(const Team &team, uint32_t number, uint32_t word, EarlyMessage &found);

private:
    static constexpr size_t most = 16;

    // Takes out those that belong() is true of; true, with the last of them, where some do not fit().
    template <class Belongs, class Fits>
    bool take(Belongs belongs, Fits fits, EarlyMessage &found);

    EarlyMessage messages_[most] = {};
    size_t count_ = 0;
    size_t next_ = 0;  // place to write once all are in use
};

}  // namespace lanyard
