// Asks the sender to copy a part of the message itself (a push), and waits briefly for its answer. See
// push_request.h.
#include "p2p/push_request.h"

#include <algorithm>

namespace lanyard {

namespace {

// The receiver waits for the sender for a fraction of the time that the copy takes: 1 ns for every
// bytes_per_moment_ns bytes.
constexpr uint64_t least_moment_ns = 2000, bytes_per_moment_ns = 32;
// After this many unanswered requests in a row, only one message in `ask_every` asks for a push.
constexpr uint32_t requests_in_vain = 4, ask_every = 32;

}  // namespace

bool PushRequest::promises_something(Endpoint &endpoint, Peer &peer) {
    if (endpoint.engine.oversubscribed() || !endpoint.words.has_any()) return false;
    return peer.asking_for_push.ask(requests_in_vain, ask_every);
}

bool PushRequest::begin(uint32_t peer, uint64_t sender_id, const ClearToSend &clear, bool contiguous,
                        User &user) {
    if (!endpoint_.words.take(*endpoint_.peers[peer].path, endpoint_.own_peer, word_)) return false;
    user_ = &user;
    peer_ = peer;
    Envelope envelope{};
    envelope.context = sender_id;
    envelope.tag = contiguous;
    envelope.kind = EnvelopeKind::clear_to_send;
    envelope.flags = flag_if_unclaimed;
    envelope.check = word_.name();
    endpoint_.channels.post(endpoint_.peers[peer], envelope, &clear, sizeof clear);
    uint64_t bytes = clear.end - clear.offset;
    due_ns = endpoint_.engine.read_now_ns() + std::max(least_moment_ns, bytes / bytes_per_moment_ns);
    endpoint_.engine.ready(*this);
    return true;
}

int PushRequest::await(Task &task) {
    auto &self = static_cast<PushRequest &>(task);
    bool claimed = self.word_.claims().back > 0;
    if (!claimed && self.endpoint_.engine.read_now_ns() < self.due_ns) {
        self.endpoint_.engine.ready(self);
        return 0;
    }
    if (claimed || !claim_all(*self.word_.word, self.word_.generation, true)) {
        self.answered();
        return 1;
    }
    self.endpoint_.peers[self.peer_].asking_for_push.in_vain();
    self.stop();
    self.user_->sender_is_absent();
    return 1;
}

void PushRequest::answered() {
    if (!word_) return;
    endpoint_.peers[peer_].asking_for_push.worked();
    stop();
}

void PushRequest::stop() {
    if (hook.linked()) hook.unlink();
    if (word_) endpoint_.words.end(word_);
}

bool PushRequest::claim(const Endpoint &endpoint, uint32_t peer, const Envelope &request) {
    uint32_t index = OwnWord::index_of(request.check);
    std::atomic<uint64_t> *word =
        index < shared_words ? endpoint.peers[peer].path->memory().shared_word(peer, index) : nullptr;
    return word && claim_all(*word, OwnWord::generation_of(request.check), false);
}

}  // namespace lanyard
