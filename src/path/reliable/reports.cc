// See reports.h.
#include "path/reliable/reports.h"

#include "base/events.h"

namespace lanyard {

int Reports::tell(Sink &sink) {
    int told = 0;
    for (size_t i = 0; i < sent_.size(); ++i, ++told) sink.sent(sent_[i]);
    sent_.clear();
    for (size_t left = lost_.size(); left > 0; --left) {
        Loss loss = std::move(lost_.front());
        lost_.pop_front();
        if (event_wanted(Event::peer_lost)) tell_event(Event::peer_lost, 0, {loss.peer});
        for (const Envelope &envelope : loss.undelivered) sink.undelivered(loss.peer, envelope);
        sink.lost(loss.peer,
                  Error(ErrorClass::proc_aborted, "process " + std::to_string(loss.peer) + " " + loss.why));
        ++told;
    }
    return told;
}

}  // namespace lanyard
