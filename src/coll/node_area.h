// Collectives through memory that all ranks of a team share: each rank has slots of its own, which only it writes and
// all read. One use of the area (Exchange, schedule.h) is: write the own slot if there is something to say, then wait for
// the slots of one or of all, then take what is in them. It never blocks: advance() is called again until it says done.
//
//   area:  room word | rank 0: header, 4 slots | rank 1: header, 4 slots | ...
//   slot:  generation (the use it belongs to), done_through, bytes of the payload, payload
//
// Uses are numbered by generation, the same on all ranks; generation g uses slot g mod 4 of each rank. A slot is written
// again only when every rank is done with its previous generation: headers say through which generation a rank is done,
// and slots repeat it, so that exchanges in which all read all never look at headers.
// Waking: the last to post finds all posts there and rings all; who waits for room says so in the room word.
// Every store that somebody may sleep for, and the loads that look for the last, are sequentially consistent.
//
// Called by the engine's owner of each rank. The memory is zero before the first use.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "coll/node_bell.h"
#include "coll/schedule.h"
#include "coll/team.h"

namespace lanyard {

// How much memory a team of `size` ranks on one node wants; 0 when it wants none.
size_t node_area_bytes(int size);
// The most bytes one rank can post at once in the team's area; -1 without an area.
int64_t node_slot_capacity(Team &team);

// Copies between a block of the program's memory and packed bytes.
void pack_block(const Buffer &from, std::byte *to, int64_t bytes);
void unpack_block(const std::byte *from, const Buffer &to);

class ExchangeRun {
public:
    // Takes the next generation of the team's area; all ranks begin theirs in the same order.
    void begin(Team &team);
    // True when done. `base` turns blocks into memory.
    template <class BufferOf>
    bool advance(const Exchange &exchange, const Op *op, Team &team, NodeBell *bell, BufferOf &&buffer_of);
    // Once done: the ranks' arguments did not fit together.
    Error error() const;

private:
    enum class State : uint8_t { posting, waiting, done };

    bool room(Team &team);
    void post(const Exchange &exchange, const Buffer &data, Team &team, NodeBell *bell);
    bool all_there(const Exchange &exchange, Team &team);
    // The payload of a rank, which must have `bytes` bytes; nullptr, and an error is kept, when it has not.
    const std::byte *payload_of(Team &team, int rank, int64_t bytes);
    void copy_from(Team &team, int rank, const Buffer &into);
    void finish(Team &team, NodeBell *bell);
    void reduce_slots(const Op &op, const Buffer &into, Team &team);

    static constexpr uint32_t most_at_once = 64;  // nonblocking: later ones wait until earlier ones are done

    uint32_t generation_ = 0;
    int next_ = 0;  // ranks below have posted
    State state_ = State::posting;
    bool wants_room_ = false;
    int misfit_ = -1;  // a rank that posted another number of bytes than this rank expects
    int64_t misfit_bytes_ = 0, expected_bytes_ = 0;
};

template <class BufferOf>
bool ExchangeRun::advance(const Exchange &exchange, const Op *op, Team &team, NodeBell *bell, BufferOf &&buffer_of) {
    if (state_ == State::posting) {
        if (generation_ - team.node_use.done_through > most_at_once) return false;
        if (exchange.posts) {
            if (!room(team)) return false;
            post(exchange, buffer_of(exchange.data), team, bell);
        }
        state_ = State::waiting;
        if (exchange.wants != Exchange::Wants::nobody && !all_there(exchange, team)) return false;
        // All are there already: maybe this was the last, for whom others wait.
        if (exchange.posts && exchange.wants == Exchange::Wants::everyone && bell) {
            for (int rank = 0; rank < team.size; ++rank)
                if (rank != team.index && exchange.wakes == Exchange::Wants::everyone) bell->ring(team.peers[rank]);
        }
    } else if (!all_there(exchange, team)) {
        return false;
    }
    if (exchange.take == Exchange::Take::reduce) {
        reduce_slots(*op, buffer_of(exchange.into), team);
    } else if (exchange.take == Exchange::Take::copy && exchange.wants == Exchange::Wants::root) {
        copy_from(team, exchange.root, buffer_of(exchange.into));
    } else if (exchange.take == Exchange::Take::copy) {
        for (int rank = 0; rank < team.size; ++rank) {
            if (rank == team.index && !exchange.takes_own) continue;
            Block into = exchange.into;
            into.offset += rank * exchange.stride;
            copy_from(team, rank, buffer_of(into));
        }
    }
    finish(team, bell);
    return true;
}

}  // namespace lanyard
