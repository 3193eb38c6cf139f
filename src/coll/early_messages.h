// Remembers messages that arrived for a collective before this rank started it, or after it had ended, and
// reports of other ranks' calls (agreement.h). Their check words show whether ranks call different
// collectives, even if no receive ever matches the messages. Few messages are kept, and further ones
// overwrite them. If a message is dropped, a mismatch may go unreported, and nothing else is affected. The
// messages of a team that starts no more collectives stay until they are overwritten. They concern no other
// team. Used by the executor.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/coll/plan_test.cc, tests/failures/test_mismatch.py.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coll/team.h"

namespace lanyard {

struct EarlyMessage {
    uint64_t context;
    uint32_t number;  // the number of the collective in the message's tag
    // The message belongs to a persistent collective. Persistent collectives are numbered separately.
    bool persistent;
    uint32_t check;
    int32_t source;
};

class EarlyMessages {
public:
    bool empty() const { return count_ == 0; }
    // Is there a message that take_disagreeing() may compare with a call of the team, now or later?
    bool concern(const Team &team) const { return count_ > 0 && has_any_of(team); }
    void add(const EarlyMessage &message);
    // Removes the messages of the team's collective `number` and of all earlier collectives. True: the check
    // word of a removed message does not agree with this rank's call. `found` is then this message, the last
    // if there are several. Only calls in team.recent are compared.
    bool take_disagreeing(const Team &team, uint32_t number, EarlyMessage &found);
    // The same for the messages of a persistent collective that is about to start. `word`: this rank's word
    // for that collective.
    bool take_disagreeing_persistent(const Team &team, uint32_t number, uint32_t word, EarlyMessage &found);

private:
    static constexpr size_t most = 16;

    bool has_any_of(const Team &team) const;
    // Removes the messages for which belongs() is true. True: fits() is false for some of them, and `found`
    // is the last of these.
    template <class Belongs, class Fits>
    bool take(Belongs belongs, Fits fits, EarlyMessage &found);

    EarlyMessage messages_[most] = {};
    size_t count_ = 0;
    size_t next_ = 0;  // counts the overwritten entries once all are in use
};

}  // namespace lanyard
