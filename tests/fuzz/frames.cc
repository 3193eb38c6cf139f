// Tests the reader of a link (the state of a TCP connection between two processes). After a proper greeting,
// the other side sends any bytes, in any pieces, while the link has envelopes and bulk to send. What the link
// delivers and what it sends must be well formed. After a new greeting the link must work as if these bytes
// had never arrived.
// Input: two bytes that choose pieces and delays; one byte for the number of envelopes that the link has to
// send, whose highest bit requests checksums; then what is sent. With checksums, all bytes that look like a
// frame get the right checksums, so that the code behind the checks is reached, too.
#include "base/log.h"
#include "fuzz/caller.h"
#include "fuzz/fuzz.h"
#include "path/tcp/tcp_path.h"
#include "sim/job.h"

namespace lanyard::fuzz {
namespace {

using sim::Baton, sim::SimInternet, sim::SimLinks, sim::SimSockets;

constexpr uint32_t caller_process = 0, link_process = 1;
constexpr uint64_t bulk_token = 77;

// The receiver above the link.
struct Receiver final : Sink {
    uint64_t envelopes = 0, checksum = 0;
    bool bulk_sent = false;
    std::vector<std::byte> posted = std::vector<std::byte>(10'000);  // for receive 1

    void touch(const std::byte *payload, size_t size) {
        for (size_t i = 0; i < size; ++i) checksum += static_cast<uint64_t>(payload[i]);
    }
    void envelope(uint32_t peer, const Envelope &, const std::byte *payload, size_t size) override {
        must(peer == caller_process && size <= TcpLimits().max_eager,
             "an envelope is not larger than may be");
        touch(payload, size);
        ++envelopes;
    }
    std::byte *place(uint32_t, const BulkHeader &header, size_t size) override {
        bool fits =
            header.receive_id == 1 && header.offset <= posted.size() && size <= posted.size() - header.offset;
        return fits ? posted.data() + header.offset : nullptr;
    }
    void bulk(uint32_t, const BulkHeader &, const std::byte *payload, size_t size) override {
        must(size <= most_bulk, "a bulk frame is not larger than may be");
        touch(payload, size);
    }
    void sent(uint64_t token) override {
        must(token == bulk_token && !bulk_sent, "what was to be sent is told once");
        bulk_sent = true;
    }
    void lost(uint32_t, Error reason) override {
        reason.discard();
        must(false, "nobody is given up so soon");
    }
};

// What the link sends on one connection.
class Listener {
public:
    Listener(uint64_t next, size_t check_bytes) : next_(next), check_bytes_(check_bytes) {}
    void take(std::string_view bytes) {
        bytes_ += bytes;
        while (bytes_.size() >= sizeof(FrameHeader)) {
            FrameHeader header;
            std::memcpy(&header, bytes_.data(), sizeof header);
            bool with_payload = header.kind == FrameKind::envelope || header.kind == FrameKind::bulk;
            size_t longest = with_payload ? most_bulk : 0;
            must((with_payload || header.kind == FrameKind::acknowledge) && header.size <= longest,
                 "a link says frames that there are");
            size_t whole = sizeof header + body_bytes(header.kind) + check_bytes_ + header.size;
            if (bytes_.size() < whole) return;
            bytes_.erase(0, whole);
            if (header.kind != FrameKind::envelope) continue;
            must(!any_ || header.sequence == static_cast<uint32_t>(next_),
                 "envelopes are said in their order");
            any_ = true;
            next_ = header.sequence + uint64_t{1};
        }
    }
    uint64_t next() const { return next_; }

private:
    std::string bytes_;
    uint64_t next_;
    size_t check_bytes_;
    // The first envelope may have any number, because a false acknowledgement may have removed envelopes from
    // the log.
    bool any_ = false;
};

// One frame, with its payload and its checksums.
std::string checked(const Crc32c &crc, FrameHeader header, std::string_view body, std::string_view payload) {
    header.reserved = kind_check(header);
    std::string bytes(reinterpret_cast<char *>(&header), sizeof header);
    bytes += body;
    FrameCheck check{crc(bytes.data(), bytes.size()),
                     crc(payload.data(), std::min(payload.size(), most_beginning)),
                     crc(payload.data(), payload.size())};
    return bytes.append(reinterpret_cast<char *>(&check), sizeof check).append(payload);
}

// Adds checksums to all frames among the bytes. Bytes that are no frame stay as they are.
std::string with_checks(const Crc32c &crc, std::string_view bytes) {
    std::string all;
    while (bytes.size() >= sizeof(FrameHeader)) {
        FrameHeader header;
        std::memcpy(&header, bytes.data(), sizeof header);
        size_t body = body_bytes(header.kind), left = bytes.size() - sizeof header;
        if (left < body || left - body < header.size) break;
        all += checked(crc, header, bytes.substr(sizeof header, body),
                       bytes.substr(sizeof header + body, header.size));
        bytes.remove_prefix(sizeof header + body + header.size);
    }
    return all.append(bytes);
}

class Scene {
public:
    Scene(uint64_t seed, uint64_t envelopes, bool checks)
        : crc_(checks ? sim::loaded_crc() : Crc32c()),
          baton_(seed),
          links_(baton_, {.portion_percent = 40, .preempt_percent = 0}, TcpLimits(), 2, crc_),
          sockets_(links_.internet, caller_process),
          caller_(sockets_, [this] { turn(); }),
          random_(seed) {
        identity_.own.number = caller_process;
        identity_.settings = checks ? checksum_setting : 0;
        greet(1, 0);
        for (uint64_t i = 0; i < envelopes; ++i) {
            Envelope envelope{};
            envelope.kind = EnvelopeKind::eager;
            must(link().send(caller_process, envelope, {payload_, random_.below(sizeof payload_), nullptr}) ==
                     Sent::done,
                 "the log has room");
        }
        if (envelopes % 3 == 1)
            receiver_.bulk_sent =
                link().send_bulk(caller_process, {1, 0}, {payload_, sizeof payload_, nullptr}, bulk_token) ==
                Sent::done;
    }

    void say(std::string_view said) {
        std::string made = crc_ ? with_checks(crc_, said) : std::string(said);
        std::string_view bytes = made;
        while (!bytes.empty()) {
            std::string_view piece = bytes.substr(0, 1 + random_.below(random_.chance(50) ? 20 : 3000));
            bytes.remove_prefix(piece.size());
            if (!caller_.say(piece.data(), piece.size())) break;
            if (random_.chance(40)) hear(3);
        }
        for (int i = 0; i < 30; ++i) turn();
    }
    // The link must work as if nothing had been sent to it.
    void check_link() {
        for (int i = 0; i < 40; ++i) hear(20);
        uint64_t expected = greet(1000, listener_.next());
        must(expected == receiver_.envelopes, "a link expects the envelope after those it has delivered");
        EnvelopeFrame frame{};
        frame.header.kind = FrameKind::envelope;
        frame.header.flags = answer_now;
        frame.header.size = 5;
        frame.header.sequence = static_cast<uint32_t>(expected);
        frame.header.acknowledged = static_cast<uint32_t>(listener_.next());
        std::string bytes = std::string(reinterpret_cast<char *>(&frame), sizeof frame) + "right";
        if (crc_) bytes = with_checks(crc_, bytes);
        must(caller_.say(bytes.data(), bytes.size()), "a link takes what is right");
        for (int i = 0; i < 20'000 && receiver_.envelopes == expected; ++i) hear(1);
        must(receiver_.envelopes == expected + 1, "an envelope that is the next is delivered");
    }

private:
    TcpPath &link() { return links_.path(link_process); }
    void turn() {
        baton_.tick();  // time passes even if no socket is called
        link().poll(receiver_, 100, baton_.now_ns());
    }

    // Makes a connection, with an epoch greater than all before. Returns what the link expects next.
    uint64_t greet(uint32_t epoch, uint64_t expects) {
        Greeting hello{}, welcome{}, confirm{};
        caller_.dial(SimInternet::address_of(link_process).with_port(links_.port(link_process)));
        hello.kind = GreetingKind::hello;
        hello.to = confirm.to = link_process;
        hello.epoch = confirm.epoch = epoch;
        seal(hello, identity_, nullptr);
        must(caller_.say(&hello, sizeof hello) && caller_.hear(welcome), "a hello is answered");
        must(welcome.kind == GreetingKind::welcome && doubt(welcome, identity_, &hello).empty(),
             "a proper hello is welcomed");
        confirm.kind = GreetingKind::confirm;
        confirm.expects = expects;
        seal(confirm, identity_, &welcome);
        must(caller_.say(&confirm, sizeof confirm), "a welcome can be confirmed");
        listener_ = Listener(expects, crc_ ? sizeof(FrameCheck) : 0);
        return welcome.expects;
    }
    void hear(int turns) {
        char chunk[3000];
        listener_.take({chunk, caller_.hear(chunk, 1 + random_.below(sizeof chunk), turns)});
    }

    const Crc32c crc_;
    Baton baton_;
    SimLinks links_;
    SimSockets sockets_;
    Caller caller_;
    sim::Random random_;
    WireIdentity identity_;
    Receiver receiver_;
    Listener listener_{0, 0};
    std::byte payload_[3000] = {};
};

}  // namespace
}  // namespace lanyard::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lanyard::detail::log_level = -1;  // refusals and broken connections are not logged
    lanyard::fuzz::Input input(data, size);
    uint64_t seed = input.number(2), envelopes = input.number(1);
    lanyard::fuzz::Scene scene(seed, envelopes % 20, envelopes >= 128);
    scene.say(input.rest());
    scene.check_link();
    return 0;
}
