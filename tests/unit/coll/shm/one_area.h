// Sets up a node area whose ranks all run in one thread, for tests of single parts of exchanges. OneArea
// provides each rank's view of the area and records which ranks sleep. Side prepares what the parts of one
// exchange need, and Broadcast does so for a broadcast.
#pragma once

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coll/algorithms.h"
#include "coll/shm/exchange_task.h"

namespace lanyard::testing {

class OneArea : public NodeReach {
public:
    explicit OneArea(int ranks)
        : teams_(static_cast<size_t>(ranks)), asleep_(static_cast<size_t>(ranks), false) {
        size_t bytes = node_area_bytes(ranks);
        std::byte *area = memory(bytes);
        for (int i = 0; i < ranks; ++i) peers_.push_back(static_cast<uint32_t>(i));
        for (int i = 0; i < ranks; ++i) {
            Team &team = teams_[static_cast<size_t>(i)];
            team.index = i;
            team.size = ranks;
            team.peers = peers_.data();
            team.node_area = area;
            team.node_area_bytes = bytes;
            team.direct_reads = true;
        }
    }
    AreaTeam seen_by(int rank) {
        Team &team = teams_[static_cast<size_t>(rank)];
        return {team, NodeArea(team), this};
    }
    void fall_asleep(int rank) { asleep_[static_cast<size_t>(rank)] = true; }
    bool asleep(uint32_t peer) override { return asleep_[peer]; }
    void wake(uint32_t peer) override { asleep_[peer] = false; }
    Error read(uint32_t, uint64_t address, std::byte *to, size_t bytes) override {
        if (refuses_reads) return Error(ErrorClass::other, "not allowed");
        std::memcpy(to, reinterpret_cast<const std::byte *>(address), bytes);
        return {};
    }
    std::byte *share(size_t bytes, uint64_t &offset) override {
        offset = 64 * memories_.size();
        return memory(bytes);
    }
    std::byte *at(uint64_t offset, size_t) override { return memories_[offset / 64].get(); }
    bool refuses_reads = false;

private:
    struct Free {
        void operator()(std::byte *memory) const { std::free(memory); }
    };
    std::byte *memory(size_t bytes) {
        size_t whole = (bytes + 63) / 64 * 64;
        memories_.emplace_back(static_cast<std::byte *>(std::aligned_alloc(64, whole)));
        std::memset(memories_.back().get(), 0, whole);
        return memories_.back().get();
    }

    std::vector<std::unique_ptr<std::byte, Free>> memories_;
    std::deque<Team> teams_;
    std::vector<uint32_t> peers_;
    std::vector<bool> asleep_;
};

// One rank's side of the exchange of a schedule, by the copy method `method`. All blocks lie in `data`, which
// has `bytes` bytes. A Side must not be moved or copied, because its `task` contains pointers to its other
// members.
struct Side {
    Side(OneArea &area, int rank, Schedule of, int64_t bytes, const char *method)
        : data(static_cast<size_t>(bytes)), copies(method), schedule(std::move(of)),
          task{{area.seen_by(rank), schedule.exchanges()[0]},
               schedule,
               pieces.data(),
               this,
               buffer_of,
               nullptr,
               &stage,
               &copies} {}
    Side(const Side &) = delete;
    Slot &slot(uint32_t generation) const { return task.area.slot(0, generation); }

    std::vector<std::byte> data, pieces = std::vector<std::byte>(exchange_pieces_bytes);
    Stage stage;
    std::string copies;
    Schedule schedule;
    ExchangeTask task;

private:
    static Buffer buffer_of(const void *owner, const Block &block) {
        auto *self = static_cast<Side *>(const_cast<void *>(owner));
        return {self->data.data() + block.offset, block.count, block.type};
    }
};

// One rank's side of a broadcast of `bytes` bytes from rank 0.
struct Broadcast : Side {
    Broadcast(OneArea &area, int rank, int64_t bytes, const char *method)
        : Side(area, rank, schedule_of(area.seen_by(rank).team, bytes), bytes, method) {}

private:
    static Schedule schedule_of(const Team &team, int64_t bytes) {
        Schedule schedule;
        bcast_exchange({{team.index, team.size}, 0, {Space::send, 0, bytes, &packed_bytes()}}, schedule);
        return schedule;
    }
};

}  // namespace lanyard::testing
