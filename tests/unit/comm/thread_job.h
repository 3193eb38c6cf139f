// Runs a job in one process, for tests that need several ranks. Each rank is a thread with its own engine,
// messenger and universe. Frames pass through locked queues in random portions, which a seed decides, so that
// messages arrive early and late.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "coll/block.h"
#include "comm/create.h"

namespace lanyard::test {

struct Frame {
    uint32_t from;
    Envelope envelope;
    BulkHeader bulk;
    bool is_bulk;
    std::vector<std::byte> payload;
};

struct Inbox {
    std::mutex lock;
    std::deque<Frame> frames;
};

class QueuePath final : public Path {
public:
    QueuePath(std::vector<Inbox> &inboxes, uint32_t own, unsigned seed)
        : Path({.name = "queue", .max_eager = 1024, .max_bulk = 4096}),
          inboxes_(inboxes),
          own_(own),
          random_(seed + own) {}
    bool reaches(uint32_t) const override { return true; }
    Sent send(uint32_t peer, const Envelope &envelope, Payload payload) override {
        return put({own_, envelope, {}, false, {}}, peer, payload);
    }
    Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t) override {
        return put({own_, {}, header, true, {}}, peer, payload);
    }
    int poll(Sink &sink, int budget, uint64_t) override {
        int delivered = 0;
        for (auto left = random_() % 3; left > 0 && delivered < budget; --left, ++delivered) {
            Frame frame;
            {
                std::lock_guard guard(inboxes_[own_].lock);
                if (inboxes_[own_].frames.empty()) break;
                frame = std::move(inboxes_[own_].frames.front());
                inboxes_[own_].frames.pop_front();
            }
            if (frame.is_bulk) sink.bulk(frame.from, frame.bulk, frame.payload.data(), frame.payload.size());
            else sink.envelope(frame.from, frame.envelope, frame.payload.data(), frame.payload.size());
        }
        return delivered;
    }
    std::string describe() const override { return "queue: threads of a test"; }

private:
    Sent put(Frame frame, uint32_t peer, Payload &payload) {
        if (random_() % 8 == 0) return Sent::full;
        frame.payload.resize(payload.size);
        payload.copy(frame.payload.data(), payload.size);
        std::lock_guard guard(inboxes_[peer].lock);
        inboxes_[peer].frames.push_back(std::move(frame));
        return Sent::done;
    }

    std::vector<Inbox> &inboxes_;
    uint32_t own_;
    std::mt19937 random_;
};

struct YieldingIdle final : Idle {
    Action next(uint32_t, uint64_t, uint64_t) override { return Action::yield; }
    void yield() override { std::this_thread::yield(); }
    void arm() override {}
    void sleep(uint64_t) override {}
    void disarm() override {}
    void wake() override {}
};

// One heap for all nodes. Counts the areas in use.
class HeapMemory final : public NodeMemory {
public:
    bool allocate(size_t bytes, uint64_t &offset) override {
        std::lock_guard guard(lock_);
        ++in_use_;
        areas_.push_back(std::make_unique<Line[]>(bytes / sizeof(Line) + 1));
        offset = areas_.size() - 1;
        return true;
    }
    std::byte *open(uint64_t offset, size_t) override {
        std::lock_guard guard(lock_);
        return reinterpret_cast<std::byte *>(areas_[offset].get());
    }
    void close(uint64_t, std::byte *, size_t) override {}
    bool empty(uint64_t, size_t) override { return false; }
    void release(uint64_t, size_t, bool) override {
        std::lock_guard guard(lock_);
        --in_use_;
    }
    int used() {
        std::lock_guard guard(lock_);
        return in_use_;
    }

private:
    struct alignas(64) Line {
        std::byte bytes[64];
    };
    std::mutex lock_;
    int in_use_ = 0;
    std::deque<std::unique_ptr<Line[]>> areas_;
};

struct Rank {
    Settings settings;
    YieldingIdle idle;
    Engine engine;
    Messenger messenger;
    Executor executor;
    QueuePath path;
    Processes processes;
    Universe universe;

    Rank(uint32_t own, uint32_t size, std::vector<Inbox> &inboxes, NodeMemory &memory,
         uint32_t ranks_per_node, unsigned seed)
        : engine(idle),
          messenger(engine, settings, own, size),
          executor(messenger, nullptr),
          path(inboxes, own, seed),
          universe(messenger, settings, processes, own) {
        engine.add_path(path);
        for (uint32_t peer = 0; peer < size; ++peer) processes.append({0, peer}, peer / ranks_per_node);
        Peers world;
        for (uint32_t peer = 0; peer < size; ++peer) {
            messenger.route(peer, path);
            world.push_back(peer);
        }
        universe.node_memory = &memory;
        universe.executor = &executor;
        make_predefined(universe, world, nullptr, 0).discard();
    }
    ~Rank() { free_predefined(universe); }
    Comm &world() { return *universe.world; }
};

// Runs `body` as each rank. Returns how many areas of node memory are still in use.
inline int run_job(uint32_t size, uint32_t ranks_per_node, unsigned seed,
                   const std::function<void(Rank &)> &body) {
    std::vector<Inbox> inboxes(size);
    HeapMemory memory;
    std::vector<std::unique_ptr<Rank>> ranks;
    for (uint32_t own = 0; own < size; ++own)
        ranks.push_back(std::make_unique<Rank>(own, size, inboxes, memory, ranks_per_node, seed));
    std::vector<std::thread> threads;
    for (auto &rank : ranks) threads.emplace_back([&] { body(*rank); });
    for (auto &thread : threads) thread.join();
    ranks.clear();
    return memory.used();
}

// Sends this rank's number to the right neighbour and expects the left neighbour's number. This proves that
// context, peers and ranks agree.
inline void ring(Comm &comm) {
    if (comm.size == 1) return;
    Universe &universe = *comm.universe;
    int32_t told = comm.rank, heard = -1;
    int right = (comm.rank + 1) % comm.size, left = (comm.rank + comm.size - 1) % comm.size;
    SendOperation send;
    ReceiveOperation receive;
    send.context = receive.context = comm.context;
    send.tag = receive.tag = 5;
    send.rank = comm.rank;
    send.peer = comm.peers[right];
    send.buffer = {reinterpret_cast<std::byte *>(&told), sizeof told, &packed_bytes()};
    receive.rank = left;
    receive.peer = comm.peers[left];
    receive.buffer = {reinterpret_cast<std::byte *>(&heard), sizeof heard, &packed_bytes()};
    EngineGuard guard(universe.engine);
    universe.messenger.receive(receive);
    universe.messenger.send(send);
    universe.engine.wait_owned(send.completion);
    universe.engine.wait_owned(receive.completion);
    EXPECT_EQ(heard, left);
    EXPECT_FALSE(receive.error);
}

}  // namespace lanyard::test
