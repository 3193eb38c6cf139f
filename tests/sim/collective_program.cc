#include "sim/collective_program.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "coll/collectives.h"
#include "unit/coll/elements.h"

namespace lanyard::sim {

namespace {

using lanyard::testing::combine;
using lanyard::testing::compose_op;
using lanyard::testing::gappy_pair;
using lanyard::testing::Pair;
using lanyard::testing::plain_pair;
using lanyard::testing::sum_op;

enum class Kind { barrier, bcast, reduce, allreduce, scan, exscan, reduce_scatter_block, reduce_scatter, gather, gatherv, scatter, scatterv,
                  allgather, allgatherv, alltoall, alltoallv, count_of_them };

// What element i of rank r in operation n is at first.
Pair initial(uint64_t n, int r, int64_t i) {
    auto mixed = static_cast<uint32_t>(n * 7919 + static_cast<uint64_t>(r) * 104'729 + static_cast<uint64_t>(i) * 31);
    return {mixed * 2 + 1, mixed ^ mixed >> 7};
}

// Elements in memory, plain or with gaps.
class Field {
public:
    Field(const Datatype &type, int64_t elements) : type_(type), memory_(static_cast<size_t>(elements * type.extent + 32)) {}
    Pair get(int64_t i) {
        Pair pair;
        Cursor(buffer(i, 1)).pack(&pair, sizeof pair);
        return pair;
    }
    void set(int64_t i, Pair pair) { Cursor(buffer(i, 1)).unpack(&pair, sizeof pair); }
    std::byte *at(int64_t i) { return memory_.data() + i * type_.extent; }
    Buffer buffer(int64_t first, int64_t count) { return {at(first), count, &type_}; }

private:
    const Datatype &type_;
    std::vector<std::byte> memory_;
};

// One operation, as one rank does it.
struct Call {
    Executor &executor;
    Team &team;
    uint64_t number;
    int root;
    int64_t count;
    const Datatype &type;
    bool in_place;
    const Op &op;
    std::vector<int32_t> counts, places;  // of the uneven forms; places leave gaps

    int size() const { return team.size; }
    int me() const { return team.index; }
    Numbers count_list() const { return {counts.data(), 4}; }
    Numbers place_list() const { return {places.data(), 4}; }
    int64_t space() const { return places.back() + counts.back(); }

    Pair own(int64_t i) const { return initial(number, me(), i); }
    // Of ranks 0 to last, in order.
    Pair folded(int last, int64_t i) const {
        Pair value = initial(number, 0, i);
        for (int r = 1; r <= last; ++r) value = combine(op, value, initial(number, r, i));
        return value;
    }
    void expect(Pair got, Pair wanted, const char *what, int64_t i) const {
        ASSERT_EQ(got, wanted) << what << ", operation " << number << ", rank " << me() << " of " << size() << ", root " << root
                               << ", element " << i << " of " << count << (in_place ? ", in place" : "");
    }
    template <class... Parameters, class... Arguments>
    void run(void (*plan)(Executor &, Team &, Collective &, Parameters...), const Arguments &...arguments) const {
        Error error = blocking(executor, team, plan, arguments...);
        if (error) FAIL() << error.take().sentence;
    }
};

void do_bcast(const Call &call) {
    Field data(call.type, call.count);
    if (call.me() == call.root)
        for (int64_t i = 0; i < call.count; ++i) data.set(i, call.own(i));
    call.run(plan_bcast, data.buffer(0, call.count), call.root);
    for (int64_t i = 0; i < call.count; ++i) call.expect(data.get(i), initial(call.number, call.root, i), "bcast", i);
}

// reduce, allreduce, scan, exscan, reduce_scatter_block, reduce_scatter
void do_reduction(const Call &call, Kind kind) {
    bool scatters = kind == Kind::reduce_scatter_block || kind == Kind::reduce_scatter;
    int64_t first = 0, mine = call.count, all = call.count;
    if (kind == Kind::reduce_scatter_block) first = call.me() * call.count, all = call.size() * call.count;
    if (kind == Kind::reduce_scatter) {
        all = 0;
        for (int r = 0; r < call.size(); ++r) {
            if (r == call.me()) first = all;
            all += call.counts[static_cast<size_t>(r)];
        }
        mine = call.counts[static_cast<size_t>(call.me())];
    }
    bool in_place = call.in_place && (kind != Kind::reduce || call.me() == call.root);
    Field contribution(call.type, all), result(call.type, all);
    for (int64_t i = 0; i < all; ++i) (in_place ? result : contribution).set(i, call.own(i));
    Reduction reduction{contribution.at(0), result.at(0), scatters ? call.count : all, &call.type, &call.op, in_place};
    bool has_result = true;
    int last = call.size() - 1;
    switch (kind) {
        case Kind::reduce:
            call.run(plan_reduce, reduction, call.root);
            has_result = call.me() == call.root;
            break;
        case Kind::allreduce: call.run(plan_allreduce, reduction); break;
        case Kind::scan:
            call.run(plan_scan, reduction);
            last = call.me();
            break;
        case Kind::exscan:
            call.run(plan_exscan, reduction);
            last = call.me() - 1;
            has_result = last >= 0;
            break;
        case Kind::reduce_scatter_block: call.run(plan_reduce_scatter_block, reduction); break;
        default: call.run(plan_reduce_scatter, reduction, call.count_list());
    }
    for (int64_t i = 0; has_result && i < mine; ++i) call.expect(result.get(i), call.folded(last, first + i), "reduction", i);
    for (int64_t i = 0; !in_place && i < all; ++i) call.expect(contribution.get(i), call.own(i), "what was contributed", i);
}

// gather, gatherv, allgather, allgatherv
void do_gather(const Call &call, Kind kind) {
    bool uneven = kind == Kind::gatherv || kind == Kind::allgatherv, to_all = kind == Kind::allgather || kind == Kind::allgatherv;
    bool has_all = to_all || call.me() == call.root, in_place = call.in_place && has_all;
    auto count_of = [&](int r) { return uneven ? call.counts[static_cast<size_t>(r)] : call.count; };
    auto place_of = [&](int r) { return uneven ? call.places[static_cast<size_t>(r)] : r * call.count; };
    Field own(call.type, count_of(call.me())), all(call.type, uneven ? call.space() : call.size() * call.count);
    for (int64_t i = 0; i < count_of(call.me()); ++i)
        if (in_place) all.set(place_of(call.me()) + i, call.own(i));
        else own.set(i, call.own(i));
    Buffer sent = in_place ? Buffer{} : own.buffer(0, count_of(call.me()));
    Uneven places{all.at(0), call.count_list(), call.place_list(), &call.type};
    if (kind == Kind::gather) call.run(plan_gather, sent, all.buffer(0, call.count), call.root);
    if (kind == Kind::gatherv) call.run(plan_gatherv, sent, places, call.root);
    if (kind == Kind::allgather) call.run(plan_allgather, sent, all.buffer(0, call.count));
    if (kind == Kind::allgatherv) call.run(plan_allgatherv, sent, places);
    for (int r = 0; has_all && r < call.size(); ++r)
        for (int64_t i = 0; i < count_of(r); ++i) call.expect(all.get(place_of(r) + i), initial(call.number, r, i), "gather", i);
}

void do_scatter(const Call &call, bool uneven) {
    bool is_root = call.me() == call.root, in_place = call.in_place && is_root;
    auto count_of = [&](int r) { return uneven ? call.counts[static_cast<size_t>(r)] : call.count; };
    auto place_of = [&](int r) { return uneven ? call.places[static_cast<size_t>(r)] : r * call.count; };
    int64_t space = uneven ? call.space() : call.size() * call.count;
    Field all(call.type, space), own(call.type, count_of(call.me()));
    for (int64_t i = 0; is_root && i < space; ++i) all.set(i, call.own(i));
    Buffer received = in_place ? Buffer{} : own.buffer(0, count_of(call.me()));
    if (uneven) call.run(plan_scatterv, Uneven{all.at(0), call.count_list(), call.place_list(), &call.type}, received, call.root);
    else call.run(plan_scatter, all.buffer(0, call.count), received, call.root);
    for (int64_t i = 0; !in_place && i < count_of(call.me()); ++i)
        call.expect(own.get(i), initial(call.number, call.root, place_of(call.me()) + i), "scatter", i);
}

void do_alltoall(const Call &call) {
    int64_t space = call.size() * call.count;
    Field sent(call.type, space), received(call.type, space);
    for (int64_t i = 0; i < space; ++i) (call.in_place ? received : sent).set(i, call.own(i));
    call.run(plan_alltoall, call.in_place ? Even{} : sent.buffer(0, call.count), received.buffer(0, call.count));
    for (int r = 0; r < call.size(); ++r)
        for (int64_t i = 0; i < call.count; ++i)
            call.expect(received.get(r * call.count + i), initial(call.number, r, call.me() * call.count + i), "alltoall", i);
}

// Between ranks r and s go (r + s) mod (count + 1) elements, both ways.
void do_alltoallv(const Call &call) {
    std::vector<int64_t> counts, places;
    int64_t space = 0;
    for (int r = 0; r < call.size(); ++r) {
        counts.push_back((r + call.me()) % (call.count + 1));
        places.push_back(space);
        space += counts.back() + r % 2;
    }
    Field sent(call.type, space), received(call.type, space);
    for (int r = 0; r < call.size(); ++r) {
        auto at = static_cast<size_t>(r);
        for (int64_t i = 0; i < counts[at]; ++i) (call.in_place ? received : sent).set(places[at] + i, initial(call.number, call.me() * 1000 + r, i));
    }
    Numbers count_list{counts.data(), 8}, place_list{places.data(), 8};
    call.run(plan_alltoallv, call.in_place ? Uneven{} : Uneven{sent.at(0), count_list, place_list, &call.type},
             Uneven{received.at(0), count_list, place_list, &call.type});
    for (int r = 0; r < call.size(); ++r)
        for (int64_t i = 0; i < counts[static_cast<size_t>(r)]; ++i)
            call.expect(received.get(places[static_cast<size_t>(r)] + i), initial(call.number, r * 1000 + call.me(), i), "alltoallv", i);
}

void do_one(const Call &call, Kind kind) {
    switch (kind) {
        case Kind::barrier: return call.run(plan_barrier);
        case Kind::bcast: return do_bcast(call);
        case Kind::gather:
        case Kind::gatherv:
        case Kind::allgather:
        case Kind::allgatherv: return do_gather(call, kind);
        case Kind::scatter: return do_scatter(call, false);
        case Kind::scatterv: return do_scatter(call, true);
        case Kind::alltoall: return do_alltoall(call);
        case Kind::alltoallv: return do_alltoallv(call);
        default: return do_reduction(call, kind);
    }
}

}  // namespace

void run_collectives(Rank &rank, Team &team, uint64_t seed, int count, int64_t most) {
    Random random(seed);
    EngineGuard guard(rank.engine);
    for (int i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
        auto kind = static_cast<Kind>(random.below(static_cast<uint64_t>(Kind::count_of_them)));
        Call call{rank.executor,
                  team,
                  random.below(100'000),
                  static_cast<int>(random.below(static_cast<uint64_t>(team.size))),
                  random.chance(30) ? random.between(0, most) : random.between(0, 4),
                  random.chance(30) ? gappy_pair() : plain_pair(),
                  random.chance(30),
                  random.chance(50) ? sum_op() : compose_op(),
                  {},
                  {}};
        int32_t space = 0;
        for (int r = 0; r < team.size; ++r) {
            call.counts.push_back(static_cast<int32_t>(random.between(0, call.count)));
            call.places.push_back(space);
            space += call.counts.back() + static_cast<int32_t>(random.below(2));
        }
        do_one(call, kind);
    }
}

}  // namespace lanyard::sim
