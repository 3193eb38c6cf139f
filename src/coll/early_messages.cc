#include "coll/early_messages.h"

#include "p2p/agreement.h"

namespace lanyard {

void EarlyMessages::add(const EarlyMessage &message) {
    for (size_t i = 0; i < count_; ++i) {
        EarlyMessage &known = messages_[i];
        if (known.context == message.context && known.number == message.number && known.persistent == message.persistent &&
            known.check == message.check)
            return;
    }
    size_t place = count_ < most ? count_++ : next_++ % most;
    messages_[place] = message;
}

bool EarlyMessages::take_disagreeing(const Team &team, uint32_t number, uint32_t numbers, EarlyMessage &found) {
    bool disagrees = false;
    for (size_t i = 0; i < count_;) {
        EarlyMessage message = messages_[i];
        uint32_t age = (number - message.number) & (numbers - 1);
        if (message.context != team.context || message.persistent || age >= numbers / 2) {
            ++i;
            continue;
        }
        messages_[i] = messages_[--count_];
        if (age >= recent_collectives || agree(team.recent[message.number % recent_collectives], message.check)) continue;
        found = message;
        disagrees = true;
    }
    return disagrees;
}

bool EarlyMessages::take_disagreeing_persistent(const Team &team, uint32_t number, uint32_t word, EarlyMessage &found) {
    bool disagrees = false;
    for (size_t i = 0; i < count_;) {
        EarlyMessage message = messages_[i];
        if (message.context != team.context || !message.persistent || message.number != number) {
            ++i;
            continue;
        }
        messages_[i] = messages_[--count_];
        if (agree(word, message.check)) continue;
        found = message;
        disagrees = true;
    }
    return disagrees;
}

}  // namespace lanyard
