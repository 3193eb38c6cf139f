// Peers that are lost (messenger.h), and the rule that nothing is lost silently.
//
// - What is open with a lost peer fails, and whatever is begun with it. Each of these errors says why the peer is lost, and how many messages
//   sent to it before may not have arrived.
// - Such messages are those that the path gave up (undelivered(): their payload had been copied, so that their sends were over), and sends
//   that fail though nobody asks how they ended (unasked(): a buffered send, a request that was freed).
// - A call that returns one of these errors tells of all that was given up until then. What no call has told of, MPI_Finalize does
//   (untold_loss()), before and after it waits for acknowledgements.
// "May not": a peer may have got a message though its acknowledgement was lost.
#include <string>
#include <utility>

#include "base/log.h"
#include "p2p/messenger.h"

namespace lanyard {

Messenger::Loss &Messenger::loss_of(uint32_t number) {
    auto &loss = peers_[number].loss;
    if (!loss) loss = std::make_unique<Loss>();
    return *loss;
}

// Of other kinds than eager the sender waits for an answer, or the peer does.
void Messenger::undelivered(uint32_t number, const Envelope &envelope) {
    if (envelope.kind == EnvelopeKind::eager) loss_of(number).add(envelope.length);
}

void Messenger::unasked(Transfer &transfer, bool is_send) {
    bool of_loss = transfer.error.code() == static_cast<int>(ErrorClass::proc_aborted) && transfer.peer != no_peer && peers_[transfer.peer].closed;
    transfer.error.discard();
    transfer.error = {};
    if (!of_loss) return;
    if (is_send) loss_of(transfer.peer).add(static_cast<uint64_t>(transfer.buffer.bytes()));
    else loss_of(transfer.peer).told = false;
}

// For a call that fails because of it.
Error Messenger::tell_loss(uint32_t number, const char *what) {
    Loss &loss = loss_of(number);
    loss.told = true;
    std::string text = std::string(what) + " cannot be reached any more: " + loss.why;
    if (loss.messages == 1) text += "; a message of " + std::to_string(loss.bytes) + " bytes that was sent to it before may not have arrived";
    if (loss.messages > 1)
        text += "; " + std::to_string(loss.messages) + " messages of together " + std::to_string(loss.bytes) +
                " bytes that were sent to it before may not have arrived";
    return Error(ErrorClass::proc_aborted, std::move(text));
}

// A send that cannot leave any more.
bool Messenger::fails_with_peer(Transfer &transfer) {
    if (!peers_[transfer.peer].closed) return false;
    fail(transfer, tell_loss(transfer.peer, "the process to send to"));
    return true;
}

Error Messenger::untold_loss() {
    Error all;
    for (uint32_t number = 0; number < peers_.size(); ++number) {
        const auto &loss = peers_[number].loss;
        if (!loss || loss->told || loss->messages == 0) continue;
        Error one = tell_loss(number, "a process that messages were sent to");
        if (all) all = Error(ErrorClass::proc_aborted, all.take().sentence + "; and " + one.take().sentence);
        else all = one;
    }
    return all;
}

void Messenger::lost(uint32_t number, Error reason) {
    Peer &peer = peers_[number];
    Loss &loss = loss_of(number);
    loss.why = reason.take().sentence;
    log(LogLevel::info, "p2p", "peer %u is lost: %s", number, loss.why.c_str());
    channels_.close(peer);
    peer.announcements.clear();
    auto error = [&] { return tell_loss(number, "the other process"); };
    for (MatchEntry *entry = posted_.first(); entry;) {
        MatchEntry *next = posted_.after(*entry);
        Transfer &transfer = static_cast<Transfer &>(*entry);
        if (transfer.peer == number) {
            posted_.remove(*entry);
            if (transfer.word) end_claim(transfer);
            fail(transfer, error());
        }
        entry = next;
    }
    Transfer *arriving = std::exchange(peer.arriving, nullptr);
    if (arriving && !arriving->id) fail(*arriving, error());
    transfers_.each([&](Transfer &transfer) {
        if (transfer.outgoing_hook.linked()) return;  // fails when it is flushed
        bool receiving = transfer.data_peer == number;
        if (transfer.word && transfer.announced) end_claim(transfer);
        else if (receiving && transfer.word) free_word(transfer);
        if (receiving || transfer.peer == number) fail(transfer, error());
    });
}

}  // namespace lanyard
