// Claims a receive and writes the message into it (shm_write.h).
#include "p2p/shm_write.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "p2p/rendezvous_offer.h"

namespace lanyard {

namespace {

constexpr size_t written_at_once = 1 << 20;  // bytes between two polls of the paths
// A program that computes nothing takes less time than this from one MPI call to the next.
constexpr uint64_t moment_ns = 700;

// Does the receiver withdraw or hold the receive within a moment? The receiver's words are open between two
// of its MPI calls even if it computes nothing. Such a receiver soon waits again, and a receiver that waits
// should copy too.
bool waits_at_once(const AnnouncedReceive &receive) {
    uint64_t end_ns = clock_ns() + moment_ns;
    do {
        if (receive.word->load(std::memory_order_relaxed) != receive.open) return true;
    } while (clock_ns() < end_ns);
    return false;
}

}  // namespace

bool ShmWrite::claim(Endpoint &endpoint, const AnnouncedReceive &receive) {
    uint64_t seen = receive.open;
    bool claimed = !waits_at_once(receive) &&
                   receive.word->compare_exchange_strong(seen, receive.claimed, std::memory_order_acq_rel);
    if (!claimed) ++endpoint.counts.crossed;
    return claimed;
}

void ShmWrite::begin(const SendOperation &send, const AnnouncedReceive &receive, uint64_t sender_id,
                     User &user) {
    user_ = &user;
    send_ = &send;
    sender_id_ = sender_id;
    receive_id_ = receive.receive_id;
    address_ = receive.address;
    written_ = 0;
    wanted_ = static_cast<uint64_t>(send.buffer.bytes());
    endpoint_.engine.ready(*this);
}

int ShmWrite::write(Task &task) {
    auto &self = static_cast<ShmWrite &>(task);
    uint32_t peer = self.send_->peer;
    size_t bytes = std::min<size_t>(self.wanted_ - self.written_, written_at_once);
    iovec run{self.send_->buffer.base + self.written_, bytes};
    Error error =
        self.endpoint_.peers[peer].path->memory().put(peer, &run, 1, self.address_ + self.written_, bytes);
    if (error) {
        log(LogLevel::info, "p2p", "peer %u: %s; copying through shared buffers instead", peer,
            error.sentence().c_str());
        error.discard();
    } else {
        self.written_ += bytes;
        if (self.written_ < self.wanted_) {
            self.endpoint_.engine.ready(self);
            return 1;
        }
    }
    self.endpoint_.channels.start(self.endpoint_.peers[peer], self);
    return 1;
}

bool ShmWrite::tell(Outgoing &outgoing) {
    auto &self = static_cast<ShmWrite &>(outgoing);
    bool all = self.written_ == self.wanted_;
    Envelope envelope = message_envelope(*self.send_, EnvelopeKind::rendezvous,
                                         static_cast<int64_t>(self.wanted_), self.send_->check);
    envelope.flags = flag_claimed;
    RendezvousOffer offer{all ? 0 : self.sender_id_, self.receive_id_};
    Payload payload{reinterpret_cast<const std::byte *>(&offer), sizeof offer, nullptr};
    if (self.endpoint_.channels.send(self.endpoint_.peers[self.send_->peer], envelope, payload) == Sent::full)
        return false;
    if (all) self.user_->written();
    else self.user_->write_refused();
    return true;
}

void ShmWrite::stop() {
    if (hook.linked()) hook.unlink();
    if (outgoing_hook.linked()) endpoint_.channels.withdraw(endpoint_.peers[send_->peer], *this);
}

}  // namespace lanyard
