// Tests the decoder of a flow (the state of a connection by datagrams). A peer that knows the secret sends
// arbitrary packets, while the flow has envelopes and bulk to send. The envelopes that the flow delivers must
// be well formed and in order. The flow must not request data from its owner that it has reported as
// delivered to the peer. All that it sends must be readable and fit into packets.
// Input: packets. Each packet is described by a byte that states how it is made, two bytes for its size, and
// its bytes. The lower two bits of the first byte state what the bytes are. 0: the frames of a packet without
// a number. 1: the frames of a packet with the next number. 2: four bytes with the number of a packet, then
// its frames. 3: a whole packet, used unchanged. Bit 2: the sender does not know the flow's epoch yet. Bit 3:
// the packet states the sender's epoch plus 1. Bits 4 to 6: how much time passes after the packet. Bit 7: the
// packet has the usual form.
#include <array>
#include <vector>

#include "fuzz/fuzz.h"
#include "path/dgram/flow.h"
#include "sim/known_secret.h"

namespace lanyard::dgram {
namespace {

using fuzz::must;

constexpr uint32_t own = 1, peer = 0, own_epoch = 5, peer_epoch = 6;
constexpr size_t largest = 700;
constexpr uint64_t messages = 40;
constexpr size_t message_bytes = 150, bulk_bytes_all = 6000;

struct Owner final : FlowOwner {
    std::array<std::byte, bulk_bytes_all> bytes{};
    Envelope sent{};
    uint64_t delivered_below = 0, next = 0, offset = 0, checksum = 0;
    int bulk_done = 0, ends = 0;

    void touch(const std::byte *payload, size_t size) {
        for (size_t i = 0; i < size; ++i) checksum += static_cast<uint64_t>(payload[i]);
    }
    Logged logged(Flow &, uint64_t sequence) override {
        must(sequence >= delivered_below && sequence < messages, "only what is in the log is asked for");
        return {&sent, bytes.data(), static_cast<uint32_t>(message_bytes * (sequence % 9))};
    }
    const std::byte *bulk_bytes(Flow &, uint64_t, uint64_t at, std::byte *, size_t size) override {
        must(bulk_done == 0 && at + size <= bulk_bytes_all, "only bulk that is to be sent is asked for");
        return bytes.data() + at;
    }
    void delivered(Flow &, uint64_t below) override {
        must(below > delivered_below && below <= messages, "what was sent is delivered, once");
        delivered_below = below;
    }
    void bulk_delivered(Flow &, uint64_t) override { must(++bulk_done == 1, "bulk is delivered once"); }
    void envelope(Flow &, const Piece &piece, const std::byte *payload) override {
        must(piece.at.sequence == next && piece.at.offset == offset &&
                 piece.at.offset + piece.size <= piece.total,
             "envelopes come in order");
        touch(payload, piece.size);
        offset += piece.size;
        if (offset < piece.total) return;
        offset = 0;
        ++next;
    }
    void bulk(Flow &, const BulkHeader &, const std::byte *payload, size_t size) override {
        touch(payload, size);
    }
    void ended(Flow &, FlowEnd) override { must(++ends == 1, "a flow ends once"); }
};

class Conversation {
public:
    Conversation()
        : home_(own, sim::known_secret(), Crc32c::built_in(), {}, owner_),
          flow_(home_, peer, own_epoch, largest) {
        // The peer has a flow, too. It makes the proof that the peer would send.
        FlowHome other(peer, sim::known_secret(), Crc32c::built_in(), {}, owner_);
        Flow prover(other, own, peer_epoch, largest);
        prover.ask();
        OutPacket out{};
        out.buffer = buffer_.data();
        must(prover.compose(out, now_ns_), "there is something to say");
        must(read_header(other.crc, {out.buffer, out.size}, header_), "it can be read");
        flow_.log_grew(messages);
        flow_.send_bulk({1, 0}, bulk_bytes_all, 1);
        answer();
    }
    void say(fuzz::Input &input) {
        auto how = static_cast<uint8_t>(input.number(1));
        std::string_view bytes = input.text(input.number(2));
        std::vector<std::byte> packet = make(how, bytes);
        flow_.received(packet, now_ns_);
        // So for the flow, the next packet may have arrived at any time from now on.
        home_.empty_ns = now_ns_;
        answer();
        now_ns_ += (uint64_t{1} << (how >> 4 & 7) * 5) * 100;
        answer();
    }
    void end() {
        for (int i = 0; i < 10'000 && flow_.deadline_ns() != UINT64_MAX; ++i) {
            now_ns_ = std::max(now_ns_, flow_.deadline_ns());
            answer();
        }
        must(flow_.deadline_ns() == UINT64_MAX, "a flow comes to rest or gives its peer up");
    }

private:
    std::vector<std::byte> make(uint8_t how, std::string_view bytes) {
        auto *data = reinterpret_cast<const std::byte *>(bytes.data());
        std::vector<std::byte> packet(data, data + bytes.size());
        if ((how & 3) == 3) return packet;
        PacketHeader header = header_;
        header.introduces = !(how & 0x80);
        header.number = (how & 3) == 0 ? 0 : number_field(++numbers_);
        header.to_epoch = how & 4 ? 0 : own_epoch;
        header.from_epoch += how & 8 ? 1 : 0;
        if ((how & 3) == 2) {
            fuzz::Input input(reinterpret_cast<const uint8_t *>(packet.data()), packet.size());
            header.number = static_cast<uint32_t>(input.number(4));
            packet.erase(packet.begin(),
                         packet.begin() + static_cast<ptrdiff_t>(std::min<size_t>(4, packet.size())));
        }
        if (!header.introduces)
            header.proof = usual_proof(home_.secret, peer, own, header.from_epoch, header.to_epoch);
        packet.insert(packet.begin(), header.bytes(), std::byte{});
        write_header(packet.data(), header);
        seal(home_.crc, packet.data(), packet.size(), nullptr, 0);
        return packet;
    }
    // True if the packet has a right proof, for a pair of epochs that this test uses.
    bool proves_epochs(const PacketHeader &header) {
        for (uint32_t epoch : {peer_epoch, peer_epoch + 1})
            if (header.proof == usual_proof(home_.secret, own, peer, own_epoch, epoch)) return true;
        return false;
    }
    void answer() {
        OutPacket out{};
        out.buffer = buffer_.data();
        for (int count = 0; flow_.compose(out, now_ns_); ++count) {
            must(count < 1000, "a flow has enough at last");
            must(out.size + out.tail_size <= largest, "a packet fits");
            std::vector<std::byte> packet(out.buffer, out.buffer + out.size);
            packet.insert(packet.end(), out.tail, out.tail + out.tail_size);
            PacketHeader header;
            must(read_header(home_.crc, packet, header), "a packet can be read");
            must(header.introduces ? header.from_epoch == own_epoch : proves_epochs(header),
                 "a packet is of this flow");
            FrameReader reader(std::span<const std::byte>(packet).subspan(header.bytes()));
            Frame frame;
            while (reader.next(frame)) {
            }
            must(!reader.malformed(), "a packet is well formed");
        }
    }

    Owner owner_;
    FlowHome home_;
    Flow flow_;
    PacketHeader header_{};
    uint64_t numbers_ = 0, now_ns_ = 1'000'000;
    std::array<std::byte, largest> buffer_{};
};

}  // namespace
}  // namespace lanyard::dgram

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lanyard::fuzz::Input input(data, size);
    lanyard::dgram::Conversation conversation;
    while (!input.empty()) conversation.say(input);
    conversation.end();
    return 0;
}
