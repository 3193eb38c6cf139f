// Implements the algorithms that use the node area (exchange_run.h). Each algorithm states what each rank
// posts and takes in one or two uses of the area.
// Tested by: tests/unit/coll/moves_test.cc, tests/unit/coll/reductions_test.cc.
// Tested by: tests/unit/coll/shm/node_area_test.cc.
#include "coll/running.h"
#include "coll/shm/node_area.h"

namespace lanyard {

using Among = Exchange::Among;
using Take = Exchange::Take;

namespace {

// Scratch memory into which a posted block that is not contiguous can be packed.
Block room_to_pack(Schedule &schedule, const Block &block) {
    return block.type && !block.type->contiguous ? schedule.scratch_bytes(block.bytes()) : Block{};
}

// Makes the exchange also copy the block that this rank keeps for itself.
void keep(Exchange &exchange, const Block &from, const Block &to) {
    exchange.own_from = from;
    exchange.own_to = to;
}

// States that ranks combine elements of this datatype from what they post in the exchange.
void set_elements(Exchange &exchange, const Datatype &type) {
    exchange.combined = true;
    exchange.unit = type.size;
}

// Makes the exchange combine the contributions of the ranks up to `last` into `into`. `is_read`: other ranks
// may read the memory of `into`, so the result is first stored elsewhere (Exchange::aside).
void combine(Exchange &exchange, const Block &into, int last, bool is_read, Schedule &schedule) {
    exchange.take = Take::reduce;
    exchange.into = into;
    set_elements(exchange, *into.type);
    exchange.last = last;
    if (is_read) exchange.aside = schedule.scratch(into.count, *into.type);
}

// Adds an exchange in which every rank posts for every rank.
Exchange &among_all(Schedule &schedule, Take take, StepId after) {
    Exchange &exchange = schedule.exchange(after);
    exchange.posts = true;
    exchange.wants = exchange.wakes = Among::everyone;
    exchange.take = take;
    return exchange;
}

Block part_of(const Block &all, int size, int rank) {
    int64_t first = part_start(all.count, size, rank);
    return all.part(first, part_start(all.count, size, rank + 1) - first);
}

// Makes the exchange post a contribution of which each rank takes its part. part() is called in rank order. A
// short contribution is not divided, because it fits in a slot.
template <class PartOf>
void divide(const Block &data, int size, PartOf part, Exchange &exchange, Schedule &schedule) {
    exchange.data = data;
    if (data.bytes() <= smallest_slot_capacity) return;
    exchange.read_each = schedule.list_blocks(size);
    for (int rank = 0; rank < size; ++rank) schedule.listed(exchange.read_each, rank) = part(rank);
}

// Adds an exchange in which each rank combines its part of all contributions, into `value`.
Exchange &combine_parts(const ReduceShape &s, const Block &value, Schedule &schedule) {
    Exchange &parts = among_all(schedule, Take::reduce, no_step);
    divide(
        s.contribution, s.size, [&](int rank) { return part_of(s.contribution, s.size, rank); }, parts,
        schedule);
    combine(parts, value, s.size - 1, false, schedule);
    parts.skip = part_start(s.contribution.count, s.size, s.index) * s.contribution.type->size;
    return parts;
}

// The block for this rank's combined part: in the result buffer, or in scratch memory if this rank has no
// result or its contribution lies in the result buffer (MPI_IN_PLACE).
Block place_of_part(const ReduceShape &s, bool has_result, Schedule &schedule) {
    Block part = part_of(s.contribution, s.size, s.index);
    bool apart = !has_result || s.contribution == s.result;
    return apart ? schedule.scratch(part.count, *part.type) : part_of(s.result, s.size, s.index);
}

// Lists the places in the result for the parts that the ranks have combined. A part that is already in place
// is left out.
int32_t list_parts(const ReduceShape &s, const Block &own, Schedule &schedule) {
    int32_t list = schedule.list_blocks(s.size);
    for (int rank = 0; rank < s.size; ++rank) {
        Block place = part_of(s.result, s.size, rank);
        if (rank != s.index || !(place == own)) schedule.listed(list, rank) = place;
    }
    return list;
}

// The work of one use in which `takers` ranks each take `blocks` blocks of `bytes` from others, which post
// `posted` bytes each.
Work taking(const Crew &crew, int takers, int blocks, double bytes, double posted, bool reduces = false) {
    bool in_slots = posted <= double(usual_slot_capacity);
    // Slots and the stage stay in the caches, so moved bytes cost less than the usual time. Direct reads are
    // used only where they are faster still (copy_rates.h).
    double all = double(takers) * blocks * bytes, moved = in_slots ? 0.5 : 0.25;
    Work work{.rounds = in_slots ? 0 : 1,
              .waits = in_slots ? 0 : crew.size,
              .bytes = static_cast<int64_t>(moved * all)};
    work.path_bytes = moved * (blocks * bytes + posted);
    work.copied_in_all = in_slots ? 0 : moved * posted;
    work.path_reduced = reduces ? blocks * bytes : 0;
    work.reduced_in_all = reduces ? all : 0;
    work.slots_read = blocks;
    work.slots_read_in_all = int64_t{takers} * blocks;
    work.reads = in_slots ? 0 : work.slots_read;
    work.reads_in_all = in_slots ? 0 : work.slots_read_in_all;
    work.uses = 1;
    return work;
}

// The work of a second use, in which ranks take the parts that were combined in the first use.
Work taking_parts(const Crew &crew, int takers, double part) {
    Work work = taking(crew, takers, crew.size - 1, part, part);
    // Parts in slots have only just been combined (Work::fresh_bytes). Longer parts go through the stage,
    // where the data has always been written only just before, so nothing is added for them.
    if (part <= double(usual_slot_capacity)) work.fresh_bytes = (crew.size - 1) * part;
    return work;
}

// The work of taking() if data goes from one rank to all, from all to one, or from each rank to those above
// it. A rank that posts in its slot then does not wait for those that take the data.
Work taking_one_way(const Crew &crew, int takers, int blocks, double bytes, double posted,
                    bool reduces = false) {
    Work work = taking(crew, takers, blocks, bytes, posted, reduces);
    work.one_way = true;
    return work;
}

}  // namespace

void barrier_exchange(const Members &, Schedule &schedule) {
    among_all(schedule, Take::nothing, no_step);
}

Work barrier_exchange_work(const Crew &crew, int64_t) { return taking(crew, crew.size, crew.size - 1, 0, 0); }

void bcast_exchange(const BcastShape &s, Schedule &schedule) {
    Exchange &exchange = schedule.exchange({});
    exchange.root = s.root;
    if (s.index == s.root) {
        exchange.posts = true;
        exchange.wakes = Among::everyone;
        exchange.data = s.data;
        exchange.packed = room_to_pack(schedule, s.data);
    } else {
        exchange.wants = Among::root;
        exchange.take = Take::copy;
        exchange.into = s.data;
    }
}

Work bcast_exchange_work(const Crew &crew, int64_t bytes) {
    return taking_one_way(crew, crew.size - 1, 1, double(bytes), double(bytes));
}

void reduce_exchange(const ReduceShape &s, Schedule &schedule) {
    schedule.op = s.op;
    Exchange &exchange = schedule.exchange({});
    exchange.root = s.root;
    exchange.posts = true;
    exchange.data = s.contribution;
    set_elements(exchange, *s.contribution.type);
    if (s.index == s.root) {
        exchange.wants = Among::everyone;
        combine(exchange, s.result, s.size - 1, s.contribution == s.result, schedule);
    } else {
        exchange.wakes = Among::root;
    }
}

Work reduce_exchange_work(const Crew &crew, int64_t bytes) {
    return taking_one_way(crew, 1, crew.size - 1, double(bytes), double(bytes), true);
}

void reduce_exchange_parts(const ReduceShape &s, Schedule &schedule) {
    schedule.op = s.op;
    bool is_root = s.index == s.root;
    Block own = place_of_part(s, is_root, schedule);
    StepId made = combine_parts(s, own, schedule).step;
    Exchange &collecting = schedule.exchange(made);
    collecting.root = s.root;
    collecting.posts = true;
    collecting.data = own;
    if (is_root) {
        collecting.wants = Among::everyone;
        collecting.take = Take::copy;
        collecting.copied_each = list_parts(s, own, schedule);
    } else {
        collecting.wakes = Among::root;
    }
}

Work reduce_exchange_parts_work(const Crew &crew, int64_t bytes) {
    double part = double(bytes) / crew.size;
    return taking(crew, crew.size, crew.size - 1, part, double(bytes), true) + taking_parts(crew, 1, part);
}

void allreduce_exchange(const ReduceShape &s, Schedule &schedule) {
    schedule.op = s.op;
    Exchange &exchange = among_all(schedule, Take::reduce, no_step);
    exchange.data = s.contribution;
    combine(exchange, s.result, s.size - 1, s.contribution == s.result, schedule);
}

Work allreduce_exchange_work(const Crew &crew, int64_t bytes) {
    return taking(crew, crew.size, crew.size - 1, double(bytes), double(bytes), true);
}

void allreduce_exchange_parts(const ReduceShape &s, Schedule &schedule) {
    schedule.op = s.op;
    Block own = place_of_part(s, true, schedule);
    Exchange &combining = combine_parts(s, own, schedule);
    combining.awaits_readers = false;  // a rank's post in the second use shows that it is done with the first
    Exchange &spreading = among_all(schedule, Take::copy, combining.step);
    spreading.data = own;
    spreading.copied_each = list_parts(s, own, schedule);
}

Work allreduce_exchange_parts_work(const Crew &crew, int64_t bytes) {
    double part = double(bytes) / crew.size;
    return taking(crew, crew.size, crew.size - 1, part, double(bytes), true) +
           taking_parts(crew, crew.size, part);
}

namespace {

// `last`: the contributions of the ranks up to this one are combined. Rank 0 combines nothing: its result is
// its own contribution, or undefined for exscan.
void make_scan_exchange(const ReduceShape &s, int last, Schedule &schedule) {
    schedule.op = s.op;
    bool read_by_others = s.index + 1 < s.size;
    Exchange &exchange = schedule.exchange({});
    exchange.posts = true;
    exchange.awaits_readers = read_by_others;
    if (read_by_others) exchange.wakes = Among::higher;
    exchange.data = s.contribution;
    set_elements(exchange, *s.contribution.type);
    if (s.index > 0) {
        exchange.wants = Among::lower;
        combine(exchange, s.result, last, s.contribution == s.result, schedule);
    } else if (last == 0 && !(s.contribution == s.result)) {
        keep(exchange, s.contribution, s.result);
    }
}

}  // namespace

void scan_exchange(const ReduceShape &s, Schedule &schedule) { make_scan_exchange(s, s.index, schedule); }
void exscan_exchange(const ReduceShape &s, Schedule &schedule) {
    make_scan_exchange(s, s.index - 1, schedule);
}

Work scan_exchange_work(const Crew &crew, int64_t bytes) {
    Work work = taking_one_way(crew, crew.size, crew.size - 1, double(bytes), double(bytes), true);
    work.slots_read_in_all /= 2;
    work.reads_in_all /= 2;
    work.reduced_in_all /= 2;
    work.bytes /= 2;
    return work;
}

void gather_exchange(const MoveShape &s, Schedule &schedule) {
    Exchange &exchange = schedule.exchange({});
    exchange.root = s.root;
    if (s.index != s.root) {
        exchange.posts = true;
        exchange.wakes = Among::root;
        exchange.data = s.sent.block(0);
        exchange.packed = room_to_pack(schedule, exchange.data);
        return;
    }
    if (!s.in_place) keep(exchange, s.sent.block(0), s.received.block(s.root));
    exchange.wants = Among::everyone;
    exchange.take = Take::copy;
    exchange.copied_each = schedule.list_blocks(s.size);
    for (int rank = 0; rank < s.size; ++rank)
        if (rank != s.root) schedule.listed(exchange.copied_each, rank) = s.received.block(rank);
}

Work gather_exchange_work(const Crew &crew, int64_t bytes) {
    return taking_one_way(crew, 1, crew.size - 1, double(bytes), double(bytes));
}

namespace {

// The bytes that a rank posts if it posts a block for each rank: a table (SlotPlace) and the blocks behind
// it. With two ranks there is only one block and no table.
double posted_for_each(const Crew &crew, int64_t bytes) {
    return crew.size == 2 ? double(bytes) : double(crew.size) * (sizeof(SlotPlace) + double(bytes));
}

// Posts a block for each of the other ranks.
void post_each(const MoveShape &s, const Division &blocks, Exchange &exchange, Schedule &schedule) {
    exchange.posts = true;
    if (s.size == 2) {
        exchange.data = blocks.block(1 - s.index);
        exchange.packed = room_to_pack(schedule, exchange.data);
        return;
    }
    exchange.posted_each = schedule.list_blocks(s.size);
    int64_t packed = 0;
    for (int rank = 0; rank < s.size; ++rank) {
        if (rank == s.index) continue;
        Block block = blocks.block(rank);
        schedule.listed(exchange.posted_each, rank) = block;
        if (!block.type->contiguous) packed += block.bytes();
    }
    if (packed > 0) exchange.packed = schedule.scratch_bytes(packed);
}

}  // namespace

void scatter_exchange(const MoveShape &s, Schedule &schedule) {
    Exchange &exchange = schedule.exchange({});
    exchange.root = s.root;
    if (s.index == s.root) {
        if (!s.in_place) keep(exchange, s.sent.block(s.root), s.received.block(0));
        exchange.wakes = Among::everyone;
        if (!s.even) return post_each(s, s.sent, exchange, schedule);
        exchange.posts = true;
        divide(
            s.sent.whole(s.size), s.size, [&](int rank) { return s.sent.block(rank); }, exchange, schedule);
        exchange.packed = room_to_pack(schedule, exchange.data);
    } else {
        exchange.wants = Among::root;
        exchange.take = Take::copy;
        exchange.into = s.received.block(0);
        if (!s.even) return;
        exchange.parts = s.size;
        exchange.skip = s.index * exchange.into.bytes();
    }
}

Work scatter_exchange_work(const Crew &crew, int64_t bytes) {
    return taking_one_way(crew, crew.size - 1, 1, double(bytes), double(bytes) * crew.size);
}

void allgather_exchange(const MoveShape &s, Schedule &schedule) {
    Exchange &exchange = among_all(schedule, Take::copy, no_step);
    exchange.data = s.in_place ? s.received.block(s.index) : s.sent.block(0);
    exchange.packed = room_to_pack(schedule, exchange.data);
    exchange.copied_each = schedule.list_blocks(s.size);
    for (int rank = 0; rank < s.size; ++rank)
        if (rank != s.index || !s.in_place)
            schedule.listed(exchange.copied_each, rank) = s.received.block(rank);
}

Work allgather_exchange_work(const Crew &crew, int64_t bytes) {
    double block = double(bytes) / crew.size;
    return taking(crew, crew.size, crew.size - 1, block, block);
}

void alltoall_exchange(const MoveShape &s, Schedule &schedule) {
    StepId ready = no_step;
    // With MPI_IN_PLACE, arriving blocks overwrite the blocks to be posted.
    Division blocks = s.in_place ? put_aside(s, schedule, ready) : s.sent;
    Exchange &exchange = among_all(schedule, Take::copy, ready);
    if (!s.in_place) keep(exchange, s.sent.block(s.index), s.received.block(s.index));
    post_each(s, blocks, exchange, schedule);
    exchange.copied_each = schedule.list_blocks(s.size);
    for (int rank = 0; rank < s.size; ++rank)
        if (rank != s.index) schedule.listed(exchange.copied_each, rank) = s.received.block(rank);
}

Work alltoall_exchange_work(const Crew &crew, int64_t bytes) {
    Work work = taking(crew, crew.size, crew.size - 1, double(bytes), posted_for_each(crew, bytes));
    work.uses += crew.size > 2;  // for the table
    return work;
}

void reduce_scatter_exchange(const ReduceScatterShape &s, Schedule &schedule) {
    schedule.op = s.op;
    Exchange &exchange = among_all(schedule, Take::reduce, no_step);
    auto count_of = [&](int rank) { return s.counts.data ? s.counts[rank] : s.contribution.count / s.size; };
    auto part = [&, end = int64_t{0}](int rank) mutable {
        end += count_of(rank);
        return s.contribution.part(end - count_of(rank), count_of(rank));
    };
    divide(s.contribution, s.size, part, exchange, schedule);
    combine(exchange, s.result, s.size - 1, s.contribution.space == s.result.space, schedule);
    int64_t before = 0;
    for (int rank = 0; rank < s.index; ++rank) before += count_of(rank);
    exchange.skip = before * s.contribution.type->size;
}

Work reduce_scatter_exchange_work(const Crew &crew, int64_t bytes) {
    return taking(crew, crew.size, crew.size - 1, double(bytes) / crew.size, double(bytes), true);
}

}  // namespace lanyard
