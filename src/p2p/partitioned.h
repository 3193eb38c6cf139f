// Implements partitioned communication (MPI-5.0 chapter 4). A send and a receive are matched once and then
// move their data in rounds. The sender's partitions move as they become ready. Used by the API. The head of
// partitioned.cc explains the protocol.
// Thread rule: the owner of the engine, except ready() and arrived(), which any threads may call at the same
// time. A thread that calls ready() must not own the engine.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>

#include "base/no_memory.h"
#include "base/spares.h"
#include "p2p/messenger.h"

namespace lanyard {

// The communicator, ranks and tag of the opening, the message by which a partitioned send and a partitioned
// receive find each other.
struct PartitionedEnds {
    uint64_t context = 0;     // the context in which openings of this communicator travel
    uint32_t peer = no_peer;  // no_peer: MPI_PROC_NULL
    int32_t own_rank = 0, other_rank = 0;
    int32_t tag = 0;
};

// The buffer of one side, which consists of equal partitions, one after the other. The end of a round is
// reported in `completion` and `error`.
struct Partitions {
    Buffer one;  // the first partition
    int count = 0;
    Completion *completion = nullptr;
    Error *error = nullptr;

    int64_t bytes() const { return count * one.bytes(); }
    Buffer whole() const { return {one.base, count * one.count, one.datatype}; }
    Buffer run(int first, int some) const {
        return {one.base + first * one.count * one.datatype->extent, some * one.count, one.datatype};
    }
};

// An operation that moves some bytes of a round. Pieces are kept for later rounds.
template <class Owner, class Operation>
struct Piece : Operation {
    Owner *owner = nullptr;
    int64_t offset = 0, bytes = 0;  // the place of its data in the packed bytes of all partitions
    // Holds the data if they cannot be sent from, or received into, the program's memory.
    FallibleArray<std::byte> staged;
};

template <class Owner, class Operation>
class Pieces {
public:
    using One = Piece<Owner, Operation>;

    One &take(Owner &owner, void (*then)(Completion &)) {
        One &piece = all_.take();
        piece.owner = &owner;
        piece.completion.reset();
        piece.completion.then = then;
        piece.completion.context = &piece;
        return piece;
    }
    void give_back(One &piece) { all_.give(piece); }
    size_t in_use() const { return all_.in_use(); }

private:
    Spares<One> all_;
};

class PartitionedSend {
public:
    // Creates a send and posts the receive for the opening. nullptr: there is no memory for so many
    // partitions, and nothing has happened. The caller ends the send by end().
    static PartitionedSend *make(Messenger &messenger, const PartitionedEnds &ends,
                                 const Partitions &partitions);
    PartitionedSend(const PartitionedSend &) = delete;
    PartitionedSend &operator=(const PartitionedSend &) = delete;
    // Ends the request, between rounds. The object is deleted at once or, if the receive for the opening is
    // not complete, when it is.
    static void end(PartitionedSend *send);

    void start();
    // Marks the partitions `first` to `last` (inclusive) as ready. Error: a partition was already ready in
    // this round; the partitions before it in this call are ready now.
    Error ready(int first, int last);
    int count() const { return partitions_.count; }

private:
    static constexpr int32_t nobody = -1, not_ready = -2;

    PartitionedSend(Messenger &messenger, const PartitionedEnds &ends, const Partitions &partitions);
    bool push(int first, int last);
    void flush();
    void send_waiting();
    void send_run(int first, int some);
    void send_staged(const std::byte *data, size_t bytes);
    void end_if_done();
    void await_opening();
    static void opened(Completion &completion);
    static void piece_sent(Completion &completion);

    Messenger &messenger_;
    const PartitionedEnds ends_;
    const Partitions partitions_;
    ReceiveOperation opening_;
    uint64_t opening_says_ = 0;  // the opening is received here, and then stored in `channel_`
    uint64_t channel_ = 0;       // the context of all data, chosen by the receiver; 0: not known yet
    bool ended_ = false;

    // The list of ready partitions that flush() has not taken: `newest_` names its head, and `next_` of each
    // partition in the list names the next one. `next_` of any other partition is `not_ready` until the
    // partition is ready.
    FallibleArray<std::atomic<int32_t>> next_;
    std::atomic<int32_t> newest_{nobody};

    bool active_ = false, failed_ = false, busy_ = false, told_empty_ = false, under_way_ = false;
    int readied_ = 0;
    // The partitions that flush() has taken and that are to be sent, at once or when the channel is known.
    FallibleArray<int32_t> waiting_;
    size_t waiting_count_ = 0;
    Pieces<PartitionedSend, SendOperation> pieces_;
};

class PartitionedReceive {
public:
    // Creates a receive and sends the opening. `channel`: a context that no other traffic uses. nullptr:
    // there is no memory for so many partitions, and nothing has happened. The caller ends the receive by
    // end().
    static PartitionedReceive *make(Messenger &messenger, const PartitionedEnds &ends,
                                    const Partitions &partitions, uint64_t channel);
    PartitionedReceive(const PartitionedReceive &) = delete;
    PartitionedReceive &operator=(const PartitionedReceive &) = delete;
    // Ends the request, between rounds. The object is deleted at once, or when the opening has been sent.
    static void end(PartitionedReceive *receive);

    void start();
    // Has the partition arrived in this round? Between rounds: true, because the end of a round marks all
    // partitions as arrived.
    bool arrived(int partition) const {
        return missing_[static_cast<size_t>(partition)].load(std::memory_order_acquire) == 0;
    }
    int count() const { return partitions_.count; }
    // The number of bytes received, valid once the round has ended.
    int64_t received() const { return std::min(total_, partitions_.bytes()); }

private:
    PartitionedReceive(Messenger &messenger, const PartitionedEnds &ends, const Partitions &partitions,
                       uint64_t channel);
    void send_opening();
    void listen();
    void announced();
    void receive_data(int64_t offset, int64_t bytes);
    void landed(int64_t offset, int64_t bytes);
    void check_total(int64_t total);
    int64_t inside(int64_t offset, int64_t bytes) const;
    int64_t fail_for_lack(int64_t bytes);
    void end_if_done();
    static void heard(Completion &completion);
    static void data_landed(Completion &completion);
    static void opening_sent(Completion &completion);

    Messenger &messenger_;
    const PartitionedEnds ends_;
    const Partitions partitions_;
    const uint64_t channel_;
    SendOperation opening_;
    ReceiveOperation control_;
    std::unique_ptr<std::byte[]> inbox_;
    bool ended_ = false;

    bool active_ = false, failed_ = false, busy_ = false, under_way_ = false;
    bool listening_ = false, again_ = false, control_open_ = false, heard_ = false;
    int64_t announced_ = 0, total_ = 0;
    FallibleArray<std::atomic<int64_t>> missing_;  // the number of bytes that each partition lacks
    Pieces<PartitionedReceive, ReceiveOperation> pieces_;
};

}  // namespace lanyard
