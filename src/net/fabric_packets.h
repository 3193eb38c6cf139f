// FabricPackets sends and receives packets over a datagram endpoint of libfabric (FI_EP_DGRAM). On InfiniBand
// such an endpoint is a UD queue pair; with the provider `udp` it is a socket.
//
// - All packets are sent from one pool of memory and received into it. The pool is registered once, if the
//   provider requires it (FI_MR_LOCAL). A slot of the pool belongs to the provider from the moment it is
//   posted until its completion has been read, and is not touched meanwhile.
// - If the provider needs room for its own headers before each packet (FI_MSG_PREFIX: 40 bytes on
//   InfiniBand), each slot begins with this room. The room is included in the length that is posted and in
//   the length that is reported as received, but not in the largest size of a packet.
// - Each completion queue has one entry for each slot that uses the queue, so no queue overflows. If all
//   slots for sending are in use, or if the provider asks to try again later, send() takes no more packets
//   (the endpoint is full).
// - A packet that finds no posted receive is lost. As many receives are posted as the provider accepts, up to
//   512.
// - A packet that the provider refuses for one destination, or fails to send or receive, counts as lost.
//
// Sleeping: the descriptor wakes a sleeper reliably only after a call of fi_trywait. receive() makes this
// call when it finds nothing. libfabric does not wake a sleeper when there is room again after send() was
// full, or when the provider accepts receives again after it has refused one. A provider without descriptors
// never wakes a sleeper. In these cases a timer makes the descriptor readable after 50 us.
// Thread rule: as PacketIo.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <map>
#include <memory>
#include <vector>

#include "base/tally.h"
#include "net/fabric.h"
#include "net/fabric_library.h"

namespace lanyard {

class FabricPackets final : public PacketIo {
public:
    struct Counts {
        Tally<uint64_t> sent, received;
        Tally<uint64_t> too_long, refused;  // packets dropped before they were sent
        Tally<uint64_t> failed;             // packets that the provider failed to send or to receive
    };

    // Opens an endpoint. `library` must outlive the endpoint. The sentence of an error does not name the
    // setting that requested the endpoint; the caller adds the setting.
    static Error open(const FabricLibrary &library, const FabricChoice &choice,
                      std::unique_ptr<FabricPackets> &made);
    ~FabricPackets() override;
    FabricPackets(const FabricPackets &) = delete;
    FabricPackets &operator=(const FabricPackets &) = delete;

    // A name as in "libfabric:udp:02001267...".
    std::string name() const override { return name_; }
    int64_t destination(std::string_view name) override;
    size_t largest(uint64_t) const override { return largest_; }
    int send(const Outgoing *list, int count) override;
    int receive(Arrived *list, int most) override;
    int descriptor() const override { return epoll_; }
    uint64_t now_ns() override;
    std::string describe() const override;

    const Counts &counts() const { return counts_; }

private:
    // Owns an object of libfabric and closes it.
    struct Closer {
        template <class Fid>
        void operator()(Fid *which) const { fi_close(&which->fid); }
    };
    template <class Fid>
    using Own = std::unique_ptr<Fid, Closer>;

    struct Slot {
        fi_context2 context;  // must be the first member; used by the provider while the slot is posted
        std::byte *bytes;
    };

    explicit FabricPackets(const FabricLibrary &library) : library_(library), info_(library) {}

    Error open_at_a_port(const FabricChoice &choice);
    int open_endpoint(const char *&what);
    int open_queues();
    int open_wait(fid_cq *queue);
    int make_pool();
    int learn_name();
    void *memory() const { return region_ ? fi_mr_desc(region_.get()) : nullptr; }

    int send_one(const Outgoing &packet);
    int post(const Outgoing &packet, Slot &slot);
    bool collect_sent();
    bool post_receives();
    int take(Arrived *list, int most);
    bool lend(const fi_cq_msg_entry &received, Arrived &packet);
    Slot *failed_one(fid_cq *queue);
    bool prepare_sleep();
    void ask_again();
    void set_timer(uint64_t after_ns);

    const FabricLibrary &library_;
    FabricInfos info_;
    std::string kind_, name_;
    size_t prefix_ = 0, largest_ = 0, slot_bytes_ = 0, address_bytes_ = 0;
    std::unique_ptr<std::byte[]> pool_;
    std::vector<Slot> slots_;
    // The objects of libfabric, in the order in which they are opened. They are closed in reverse order.
    Own<fid_fabric> fabric_;
    Own<fid_domain> domain_;
    Own<fid_mr> region_;
    Own<fid_av> peers_;
    Own<fid_cq> sent_, arrived_;
    Own<fid_ep> endpoint_;
    size_t sends_ = 0, receives_ = 0;  // numbers of slots for sending and for receiving
    std::vector<Slot *> free_;         // unused slots for sending
    std::vector<Slot *> to_post_;  // slots for receiving that are not posted; some may be lent to the caller
    std::vector<fi_addr_t> destinations_;
    std::map<std::string, int64_t, std::less<>> known_;
    int epoll_ = -1, timer_ = -1;
    bool wakes_ = false;         // the provider has a descriptor that wakes a sleeper
    bool may_sleep_ = false;     // fi_trywait has allowed sleeping, and nothing has arrived since
    uint64_t timer_due_ns_ = 0;  // when the timer ends; 0 if it is stopped
    Counts counts_;
};

}  // namespace lanyard
