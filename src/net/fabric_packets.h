// Packets over a datagram endpoint of libfabric's (FI_EP_DGRAM): a UD queue pair on InfiniBand, a socket with the provider `udp`.
//
// - All packets are sent from and received into one pool, which is registered once where the provider wants that (FI_MR_LOCAL). A slot of it is the
//   provider's from the moment it is posted until its completion has been read, and nobody touches it meanwhile.
// - Where the provider wants room for headers of its own before each packet (FI_MSG_PREFIX: 40 bytes on InfiniBand), a slot begins with that,
//   which belongs to what is posted and to what is said to have come, but not to what a packet may have at most.
// - The completion queues are as long as there are slots, so none overflows. Where all slots for sending are under way, or the provider
//   says so, send() is full.
// - A packet that finds no posted receive is lost; as many as the provider takes are posted, up to some 500.
// - What the provider refuses for one destination, or failed to send or receive, counts as loss.
// Sleeping: libfabric promises to wake at the descriptor only after it was asked (fi_trywait), which is done when receive() finds nothing. For
// what it does not wake for, which is room after send() was full, and everything where a provider has no descriptors, a timer does: it is worth
// asking again after 50 us.
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
        Tally<uint64_t> too_long, refused;  // dropped before they left
        Tally<uint64_t> failed;             // by the provider, at either end
    };

    // `library` outlives it. What is wrong is a sentence that does not say which setting asked for it.
    static Error open(const FabricLibrary &library, const FabricChoice &choice, std::unique_ptr<FabricPackets> &made);
    ~FabricPackets() override;
    FabricPackets(const FabricPackets &) = delete;
    FabricPackets &operator=(const FabricPackets &) = delete;

    // "libfabric:udp:02001267..."
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
    // A fid of libfabric's, closed when it goes.
    struct Closer {
        template <class Fid>
        void operator()(Fid *which) const { fi_close(&which->fid); }
    };
    template <class Fid>
    using Own = std::unique_ptr<Fid, Closer>;

    struct Slot {
        fi_context2 context;  // first: the provider's while the slot is
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
    // In the order in which they are made; they go the other way round.
    Own<fid_fabric> fabric_;
    Own<fid_domain> domain_;
    Own<fid_mr> region_;
    Own<fid_av> peers_;
    Own<fid_cq> sent_, come_;
    Own<fid_ep> endpoint_;
    size_t sends_ = 0, receives_ = 0;  // slots for each
    std::vector<Slot *> free_;         // for sending
    std::vector<Slot *> to_post_;      // for receiving: lent, or not taken by the provider yet
    std::vector<fi_addr_t> destinations_;
    std::map<std::string, int64_t, std::less<>> known_;
    int epoll_ = -1, timer_ = -1;
    bool wakes_ = false;         // the provider, at a descriptor
    bool may_sleep_ = false;     // fi_trywait has said so, and nothing has come since
    uint64_t timer_due_ns_ = 0;  // 0: it is not set
    Counts counts_;
};

}  // namespace lanyard
