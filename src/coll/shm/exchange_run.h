// Collectives through memory that all ranks of a team share (node_area.h). One use of the area (Exchange, schedule.h) is: write the own
// slot if there is something to say, then wait for the slots of one, of some or of all, then take what is in them. It never
// blocks: advance() is called again until it says done.
//
// Uses are numbered by generation, the same on all ranks; with s slots for each rank, generation g uses slot g mod s, and the same for
// payloads. They are written again only when every rank is done with their previous generation: headers say through which generation
// a rank is done, and slots repeat it, so that exchanges in which all read all never look at headers.
//
// What does not fit into a slot stays in the program's buffer: the slot has its address, and who takes it reads it from there
// (NodeReach::read). So it is copied once, and nothing travels between processors that has not changed. Who posts an address
// is over only when every rank is done with the generation; the buffer may be written then.
//
// Or it goes by the stage (stage.h), which other ranks see: its owner copies piece after piece of it in, as far as there is room, and the takers
// copy them out. The owner chooses, by what has turned out faster (copy_ways.h), and its slot tells; it is over when the last piece is in,
// whether or not that has been taken. Where each takes another part of the data, the owner has a stream for each.
//
// Where reading is refused from some time on (a process has locked itself in) the taker asks for pieces through its header, and the
// poster, which cannot be over, copies them there whenever it advances. The taker answers others while it waits for that, on every team
// it is under way on: two may ask each other on different ones.
//
// Why it ends with streams: room for the next piece comes as soon as those who take it have taken an earlier one. Who takes from several goes
// round, and waits for none while another has something: where the pieces of all are combined, all have the same way to go. Room for the
// first pieces may wait for readers of another exchange: not for long, then an address is posted.
//
// Why it ends: the oldest generation that some rank is not done with needs nothing of a later one. Room in its slot is there, as all
// are done with the ones before; each rank posts in it as soon as its own steps before allow that; and who has taken says so before it
// waits for others to have taken.
// Waking: who stores something for which others may wait looks whether one of them sleeps (NodeReach::asleep, which sees to it
// that the other sees the store or is seen). If so, the last of those for whom it waits wakes it: after a full barrier each looks at
// the stores of the others, so at least one finds them all. Who waits for others to be done is counted in the awaited word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "coll/agreement.h"
#include "coll/schedule.h"
#include "coll/shm/node_area.h"
#include "coll/shm/node_reach.h"
#include "coll/shm/short_use.h"
#include "coll/shm/stage.h"
#include "coll/team.h"

namespace lanyard {

// Copies between a block of the program's memory and packed bytes.
void pack_block(const Buffer &from, std::byte *to, int64_t bytes);
void unpack_block(const std::byte *from, const Buffer &to);

// Memory of a rank for pieces of what it reads, during a call of advance().
constexpr int64_t exchange_pieces_bytes = 128 * 1024;

// Where an exchange takes place.
struct ExchangePlace {
    const Exchange &exchange;
    Team &team;
    NodeArea area;
    NodeReach *reach;  // nullptr: ranks that never sleep and read nothing directly
};

// What it works on.
struct ExchangeTask : ExchangePlace {
    const Schedule &schedule;
    std::byte *pieces;  // exchange_pieces_bytes, aligned for any datatype
    const void *owner;  // turns blocks into memory, and answers what is asked of this rank on other teams
    Buffer (*buffer_of)(const void *owner, const Block &block);
    void (*answer_elsewhere)(const void *owner) = [](const void *) {};
    Error *failure = nullptr;  // where the failure of the program's operation goes, which may be there already
    Stage *stage = nullptr;  // nullptr: there is none
    const std::string *copies = nullptr;  // the setting; nullptr: "auto"

    Buffer buffer(const Block &block) const { return buffer_of(owner, block); }
};

class ExchangeRun {
public:
    // Takes the next generation of the team's area; all ranks begin theirs in the same order.
    void begin(Team &team, uint32_t word, uint32_t number) {
        generation_ = ++team.node_use.started;
        word_ = word;
        number_ = number;
        other_rank_ = -1;
        next_ = 0;
        position_ = 0;
        state_ = State::posting;
        counted_ = posted_alone_ = posted_address_ = false;
        misfit_ = -1;
        bytes_here_ = -1;
        used_before_ = true;
    }
    // Does all of it at once where nothing must be waited for. False: advance() does what is left.
    bool pass(const ExchangePlace &place, const ShortUse &shape, const ShortUse::Buffers &buffers);
    // True when done. A call copies a MiB or so and leaves the rest to the next one.
    bool advance(const ExchangeTask &task);
    // Not done, but got on: advance() may have left some to copy though nothing is missing.
    bool got_on() { return std::exchange(got_on_, false); }
    // Once done: the ranks' arguments did not fit together.
    Error error() const;
    // Where that is a mismatch, which may be of an earlier use: what this rank did there, and how many collectives ago.
    uint32_t own_word() const { return own_word_; }
    uint32_t own_age() const { return (number_ - own_number_) & Slot::most_numbers; }
    // Copies what others ask for of this rank's memory.
    static void answer(const NodeArea &area, const Team &team) {
        if (area.asking().load(std::memory_order_relaxed) > 0) answer_askers(area, team);
    }

private:
    enum class State : uint8_t { posting, waiting, taking, leaving, done };
    // What a rank has for this one.
    struct Posted {
        const std::byte *here;  // in its slot; nullptr: at the address
        uint64_t address;
        int64_t bytes;
        const SlotPlace *staged = nullptr;  // its part alone
    };
    // What this rank puts into the stage: a stream for all, or one for each rank.
    struct Streams {
        Stage *stage = nullptr;
        bool wanted = false, open = false;  // open: something is still to be put
        int first = 0, entries = 0, count = 0;  // entries of each
        int64_t piece = 0, longest = 0;
        uint32_t left = 0;  // the stamp before the first one
        uint64_t give_up_ns = 0;  // waiting for room; 0: not yet
        std::vector<int64_t> position;  // by rank
    };
    // What has been copied since a time, to be noted.
    struct Copied {
        int64_t bytes = 0;
        uint64_t ns = 0;
    };

    bool done_everywhere(const ExchangePlace &place, uint32_t generation) {
        if (!reached(generation, place.team.node_use.known_done) && !look_who_is_done(place, generation)) return false;
        if (counted_) stop_waiting_for_others(place);
        return true;
    }
    void stop_waiting_for_others(const ExchangePlace &place);
    bool look_who_is_done(const ExchangePlace &place, uint32_t generation);
    bool room(const ExchangeTask &task);
    void post(const ExchangeTask &task);
    void count_bytes_here(const ExchangeTask &task);
    void post_each(const ExchangeTask &task, Slot &slot);
    void tell_posted(const ExchangePlace &place);
    bool all_there(const ExchangePlace &place);
    // Whether what a rank posted belongs to what this rank does, or did.
    bool compare(const CollectiveCall &other, int rank, uint32_t word, uint32_t number) {
        if (other.number == (number & Slot::most_numbers) && agree(word, other.word)) [[likely]] return true;
        keep_disagreement(other, rank, word, number);
        return false;
    }
    void keep_disagreement(const CollectiveCall &other, int rank, uint32_t word, uint32_t number);
    // A rank that only posts learns nothing of the others: that it was the only one is seen here, before it waits for anybody.
    void compare_alone_in_time(const ExchangePlace &place) {
        const NodeUse &use = place.team.node_use;
        bool waits = place.exchange.wants != Exchange::Among::none;
        if (use.alone_count > 0 && (waits || use.alone_count == NodeUse::most_alone)) compare_alone(place);
        posted_alone_ = place.exchange.posts && !waits;
    }
    void compare_alone(const ExchangePlace &place);
    void remember_alone(const ExchangePlace &place) {
        NodeUse &use = place.team.node_use;
        use.alone[use.alone_count++] = {generation_, place.area.calls(place.team.index).told(generation_)};
    }
    Posted posted_by(const ExchangeTask &task, int rank) const;
    bool fits(const Posted &posted, int rank, int64_t bytes);
    void forget_earlier_use() {
        close_streams();  // those of one that was abandoned
        streams_.wanted = got_on_ = used_before_ = false;
        directly_ = staged_ = {};
    }
    void close_streams() {
        if (!streams_.open) return;
        streams_.open = false;
        streams_.stage->give_up(streams_.first, streams_.entries * streams_.count);
    }
    bool stage_is_better(const ExchangeTask &task, int64_t longest, int streams) const;
    void plan_streams(const ExchangeTask &task);
    bool allot_streams(const ExchangeTask &task);
    const Block *stream_to(const ExchangeTask &task, int rank) const;
    int stream_count(const ExchangeTask &task) const { return is_shared(task) ? 1 : task.team.size; }
    bool is_shared(const ExchangeTask &task) const { return task.exchange.posted_each < 0 && task.exchange.read_each < 0; }
    Stage::Readers readers_of(const ExchangeTask &task, int rank) const;
    SlotPlace place_of_stream(const ExchangeTask &task, int stream, int64_t bytes) const;
    void post_streams(const ExchangeTask &task, Slot &slot);
    void put(const ExchangeTask &task, bool first_only);
    bool put_piece(const ExchangeTask &task, const Block &block, int64_t &position, int stream, const Stage::Readers &readers);
    bool piece_there(const ExchangeTask &task, const SlotPlace &place, int64_t number, const std::byte *&piece) const;
    void piece_taken(const ExchangeTask &task, int rank, const SlotPlace &place, int64_t number) const;
    void leave_streams(const ExchangeTask &task) const;
    bool copy_staged(const ExchangeTask &task, int rank, const Posted &posted, const Buffer &into, int64_t &position);
    bool copy_directly(const ExchangeTask &task, int rank, const Posted &posted, const Buffer &into, int64_t &position);
    bool copy_from_all(const ExchangeTask &task);
    bool pieces_there(const ExchangeTask &task, int64_t number) const;
    void note_copied(const ExchangeTask &task, CopyWays::Part part, int64_t bytes, const Copied &copied) const;
    bool is_learning(const ExchangeTask &task, int64_t bytes) const;
    CopyWays::Kind kind_of(const ExchangeTask &task) const {
        return task.exchange.unit > 1 ? CopyWays::Kind::combined : CopyWays::Kind::copied;
    }
    void read(const ExchangeTask &task, int rank, uint64_t address, std::byte *to, int64_t bytes);
    void ask_for(const ExchangeTask &task, int rank, uint64_t address, std::byte *to, int64_t bytes);
    static void answer_askers(const NodeArea &area, const Team &team);
    bool take(const ExchangeTask &task);
    bool take_short(const ExchangePlace &place, const ShortUse &shape, const ShortUse::Buffers &buffers) const;
    bool copy_short(const ExchangePlace &place, int rank, const ShortUse::Place &to, const ShortUse::Buffers &buffers) const;
    bool reduce_short(const ExchangePlace &place, const ShortUse &shape, const ShortUse::Buffers &buffers) const;
    // Words that differ may agree still, which the ordinary way finds out.
    bool has_posted_alike(const Slot &slot) const {
        return slot.generation.load(std::memory_order_acquire) == generation_ && slot.check() == word_ &&
               slot.number() == (number_ & Slot::most_numbers);
    }
    // Slots also say how far ranks are: learnt well before it is needed, by those who post so many bytes.
    static void learn_who_is_done(const ExchangePlace &place, uint32_t generation, size_t bytes) {
        if (generation - place.team.node_use.known_done >= place.area.uses_apart(bytes) / 2) read_who_is_done(place, generation);
    }
    static void read_who_is_done(const ExchangePlace &place, uint32_t generation);
    bool copy_from(const ExchangeTask &task, int rank, const Buffer &into, int64_t &position);
    bool reduce_all(const ExchangeTask &task);
    void reduce_slots(const ExchangeTask &task, const Buffer &into);
    void reduce_piece(const ExchangeTask &task, std::byte *into, int64_t bytes, int64_t staged_piece);
    bool goes_aside(const ExchangeTask &task) const { return (posted_address_ || streams_.wanted) && task.exchange.aside.type; }
    void taken(const ExchangePlace &place);
    static void tell_done(const ExchangePlace &place, uint32_t through);

    static constexpr int64_t taken_whole = -1;  // instead of a position
    static constexpr uint32_t most_at_once = 64;  // nonblocking: later ones wait until earlier ones are done
    static constexpr int64_t bytes_at_once = 1 << 20;

    uint32_t generation_ = 0;
    int next_ = 0;   // ranks below have posted
    State state_ = State::posting;
    bool counted_ = false;         // in the awaited word
    bool posted_alone_ = false;
    bool posted_address_ = false;  // others read this rank's memory
    bool all_here_ = false;        // everything posted fits into the slot
    int64_t bytes_here_ = -1;      // what is written into it; -1: not counted yet
    int64_t position_ = 0;         // in the block that is being taken
    int64_t left_ = 0;             // of this call's bytes
    uint32_t word_ = 0, number_ = 0;  // what this rank does
    // Another rank did something else, here or in an earlier use: what this rank did, and what the other.
    int other_rank_ = -1;
    uint32_t own_word_ = 0, other_word_ = 0, own_number_ = 0, other_number_ = 0;
    int misfit_ = -1;  // a rank that posted another number of bytes than this rank expects
    int64_t misfit_bytes_ = 0, expected_bytes_ = 0;
    // What is not needed for a few bytes.
    bool used_before_ = false;  // what follows is of an earlier use
    bool got_on_ = false;
    std::vector<int64_t> position_from_;  // position_ by rank, where blocks of all are taken
    Streams streams_;
    Copied directly_, staged_;  // so far, while that is learned
};

}  // namespace lanyard
