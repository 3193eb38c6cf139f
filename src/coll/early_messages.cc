// See early_messages.h.
#include "coll/early_messages.h"

#include <algorithm>

#include "coll/agreement.h"
#include "coll/collective_tag.h"

namespace lanyard {

void EarlyMessages::add(const EarlyMessage &message) {
    for (size_t i = 0; i < count_; ++i) {
        EarlyMessage &known = messages_[i];
        if (known.context == message.context && known.number == message.number &&
            known.persistent == message.persistent && known.check == message.check)
            return;
    }
    size_t place = count_ < most ? count_++ : next_++ % most;
    messages_[place] = message;
}

bool EarlyMessages::has_any_of(const Team &team) const {
    return std::any_of(messages_, messages_ + count_, [&](const EarlyMessage &message) {
        return message.context == team.context && !message.persistent;
    });
}

template <class Belongs, class Fits>
bool EarlyMessages::take(Belongs belongs, Fits fits, EarlyMessage &found) {
    bool disagrees = false;
    for (size_t i = 0; i < count_;) {
        EarlyMessage message = messages_[i];
        if (!belongs(message)) {
            ++i;
            continue;
        }
        messages_[i] = messages_[--count_];
        if (fits(message)) continue;
        found = message;
        disagrees = true;
    }
    return disagrees;
}

bool EarlyMessages::take_disagreeing(const Team &team, uint32_t number, EarlyMessage &found) {
    auto age = [&](const EarlyMessage &message) {
        return (number - message.number) & (collective_numbers - 1);
    };
    return take(
        [&](const EarlyMessage &message) {
            return message.context == team.context && !message.persistent &&
                   age(message) < collective_numbers / 2;
        },
        [&](const EarlyMessage &message) {
            return age(message) >= recent_collectives ||
                   agree(team.recent[message.number % recent_collectives], message.check);
        },
        found);
}

bool EarlyMessages::take_disagreeing_persistent(const Team &team, uint32_t number, uint32_t word,
                                                EarlyMessage &found) {
    return take(
        [&](const EarlyMessage &message) {
            return message.context == team.context && message.persistent && message.number == number;
        },
        [&](const EarlyMessage &message) { return agree(word, message.check); }, found);
}

}  // namespace lanyard
