// Measures the tables by the growth of the process's private memory, which Linux reports in
// /proc/self/smaps_rollup. See job_table.h.
#include "bench/programs/job_table.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/process_idle.h"
#include "net/system_sockets.h"
#include "net/udp_packets.h"
#include "p2p/messenger.h"
#include "path/dgram/dgram_path.h"
#include "path/tcp/tcp_path.h"

namespace lanyard {

namespace {

double private_bytes() {
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string word; file >> word;) {
        double kib = 0;
        if (word == "Private_Dirty:" && file >> kib) return kib * 1024;
    }
    throw std::runtime_error("/proc/self/smaps_rollup cannot be read");
}

// Measures the growth of the private memory since the last query.
struct Growth {
    double before = private_bytes();
    double more() {
        double now = private_bytes();
        return now - std::exchange(before, now);
    }
};

Secret any_secret() {
    Secret secret;
    Secret::parse(std::string(64, '7'), secret);
    return secret;
}

Address loopback() {
    Address address;
    parse_address("127.0.0.1", address);
    return address;
}

struct Messages {
    explicit Messages(uint32_t processes) : engine(idle), messenger(engine, settings, 0, processes) {}

    ProcessIdle idle{choose_idle_policy(1, 1, false, -1)};
    Engine engine;
    Settings settings;
    Messenger messenger;
};

// The other end of a flow. Receives the packets that arrive and sends one envelope back.
class Answerer final : public dgram::FlowOwner {
public:
    Answerer(uint32_t own, const Secret &secret)
        : home_(own, secret, Crc32c::built_in(), {}, *this), flow_(home_, 0, own, packet) {
        flow_.log_grew(1);
    }
    void take(const std::vector<std::byte> &bytes, uint64_t now_ns) { flow_.received(bytes, now_ns); }
    bool answer(std::vector<std::byte> &bytes, uint64_t now_ns) {
        bytes.resize(packet);
        dgram::OutPacket out{};
        out.buffer = bytes.data();
        if (!flow_.compose(out, now_ns)) return false;
        bytes.resize(out.size);  // an envelope without payload is shorter
        return true;
    }
    bool quiet() const { return !flow_.active(); }

    static constexpr size_t packet = 1472;

private:
    dgram::Logged logged(dgram::Flow &, uint64_t) override { return {&envelope_, nullptr, 0}; }
    const std::byte *bulk_bytes(dgram::Flow &, uint64_t, uint64_t, std::byte *, size_t) override {
        return nullptr;
    }
    void delivered(dgram::Flow &, uint64_t) override {}
    void bulk_delivered(dgram::Flow &, uint64_t) override {}
    void envelope(dgram::Flow &, const dgram::Piece &, const std::byte *) override {}
    void bulk(dgram::Flow &, const BulkHeader &, const std::byte *, size_t) override {}
    void ended(dgram::Flow &, dgram::FlowEnd) override {}

    Envelope envelope_{};
    dgram::FlowHome home_;
    dgram::Flow flow_;
};

// A UDP endpoint in virtual time. Its packets go directly to `other`, the process that answers at the moment.
class Exchange final : public PacketIo {
public:
    explicit Exchange(UdpPackets &udp) : udp_(udp) {}

    std::string name() const override { return udp_.name(); }
    int64_t destination(std::string_view name) override { return udp_.destination(name); }
    size_t largest(uint64_t) const override { return Answerer::packet; }
    int send(const Outgoing *list, int count) override {
        std::vector<std::byte> bytes;
        for (int i = 0; i < count; ++i) {
            bytes.clear();
            for (int part = 0; part < list[i].count; ++part) {
                const auto *from = static_cast<const std::byte *>(list[i].parts[part].iov_base);
                bytes.insert(bytes.end(), from, from + list[i].parts[part].iov_len);
            }
            if (other) other->take(bytes, now);
        }
        return count;
    }
    int receive(Arrived *list, int) override {
        if (!other || !other->answer(arrived_, now)) return 0;
        list[0] = {arrived_.data(), arrived_.size()};
        return 1;
    }
    int descriptor() const override { return -1; }
    uint64_t now_ns() override { return now; }
    std::string describe() const override { return udp_.describe(); }

    Answerer *other = nullptr;
    uint64_t now = 1'000'000;

private:
    UdpPackets &udp_;
    std::vector<std::byte> arrived_;
};

struct Nobody final : Sink {
    void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override { ++received; }
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override {}
    void sent(uint64_t) override {}
    void lost(uint32_t, Error reason) override { throw std::runtime_error(reason.take().sentence); }
    uint64_t received = 0;
};

// Sends a message to process `process` and receives one from it. Returns when both ends are idle.
void talk(DgramPath &path, Exchange &exchange, Nobody &sink, uint32_t process, const Secret &secret) {
    Answerer other(process, secret);
    exchange.other = &other;
    uint64_t received = sink.received, word = 1;
    path.send(process, Envelope{}, {reinterpret_cast<const std::byte *>(&word), sizeof word, nullptr});
    for (int i = 0; i < 10'000 && !(path.active() == 0 && other.quiet() && sink.received == received + 1);
         ++i) {
        exchange.now += 50'000;
        path.poll(sink, 64, exchange.now);
    }
    exchange.other = nullptr;
    if (path.active() != 0 || sink.received != received + 1)
        throw std::runtime_error("a flow does not become quiet");
}

// Runs `measure` in a child process, which returns its result through memory that both processes share.
template <class Measure>
TableMemory in_a_child(Measure measure) {
    struct Told {
        TableMemory memory;
        char complaint[200] = "";
    };
    void *place = mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::runtime_error("there is no memory to share with a child");
    auto *told = new (place) Told;
    pid_t child = fork();
    if (child == 0) {
        try {
            measure(told->memory);
            _exit(0);
        } catch (const std::exception &problem) {
            std::strncpy(told->complaint, problem.what(), sizeof told->complaint - 1);
        }
        _exit(1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        throw std::runtime_error(std::string("the table of a job cannot be measured: ") + told->complaint);
    TableMemory memory = told->memory;
    munmap(place, sizeof(Told));
    return memory;
}

}  // namespace

TableMemory links_table(uint32_t processes) {
    return in_a_child([=](TableMemory &memory) {
        Growth growth;
        Messages messages(processes);
        memory.messages = growth.more();
        SystemSockets sockets(0, 60);
        WireIdentity identity;
        identity.secret = any_secret();
        auto find = [](uint32_t, std::vector<Address> &) { return Error(); };
        Processes two(2), all(processes);
        TcpPath none(sockets, identity, two, {}, find);
        memory.path = growth.more();
        TcpPath path(sockets, identity, all, {}, find);
        memory.known = growth.more();
    });
}

TableMemory datagrams_table(uint32_t processes) {
    return in_a_child([=](TableMemory &memory) {
        Growth growth;
        Messages messages(processes);
        memory.messages = growth.more();
        UdpPackets udp;
        if (Error error = udp.open({loopback()}, 0, 0)) throw std::runtime_error(error.take().sentence);
        memory.buffers = udp.granted_buffer();
        Exchange exchange(udp);
        Nobody sink;
        auto find = [](uint32_t peer, std::string &name) {  // returns a different address for each process
            name = "127." + std::to_string(1 + peer / 65'536) + "." + std::to_string(peer / 256 % 256) + "." +
                   std::to_string(peer % 256) + ":4711";
            return Error();
        };
        Processes all(processes);
        DgramPath path(exchange, {}, all, 7, Crc32c::built_in(), {}, find);
        Secret secret = any_secret();
        path.set_secret(secret);
        talk(path, exchange, sink, 1, secret);  // creates everything that is needed once for all processes
        memory.path = growth.more();
        for (uint32_t peer = 2; peer < processes; ++peer) talk(path, exchange, sink, peer, secret);
        memory.known = growth.more();
        for (uint32_t peer = 1; peer < processes; ++peer)
            if (path.counts_of(peer).received == 0) throw std::runtime_error("a process has not answered");
    });
}

}  // namespace lanyard
