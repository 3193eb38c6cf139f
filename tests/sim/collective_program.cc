// Plans the random collectives and computes the results that each rank must get. See collective_program.h.
#include "sim/collective_program.h"

#include <gtest/gtest.h>

#include "coll/collectives.h"

namespace lanyard::sim {

using lanyard::testing::combine;
using lanyard::testing::compose_op;
using lanyard::testing::gappy_pair;
using lanyard::testing::Pair;
using lanyard::testing::plain_pair;
using lanyard::testing::sum_op;

namespace {

// The initial content of element i of rank r in operation n.
Pair initial(uint64_t n, int r, int64_t i) {
    auto mixed =
        static_cast<uint32_t>(n * 7919 + static_cast<uint64_t>(r) * 104'729 + static_cast<uint64_t>(i) * 31);
    return {mixed * 2 + 1, mixed ^ mixed >> 7};
}

// Element i of the block that rank r sends to rank s in the uneven exchanges of operation n.
Pair exchanged(uint64_t n, int r, int s, int64_t i) { return initial(n, r * 1000 + s, i); }

Numbers numbers(const std::vector<int32_t> &list) { return {list.data(), 4}; }
Numbers numbers(const std::vector<int64_t> &list) { return {list.data(), 8}; }

}  // namespace

Pair Field::get(int64_t i) {
    Pair pair;
    Cursor(buffer(i, 1)).pack(&pair, sizeof pair);
    return pair;
}

void Field::set(int64_t i, Pair pair) { Cursor(buffer(i, 1)).unpack(&pair, sizeof pair); }

Operation::Operation(Rank &rank, Team &team, Random &random, int64_t most, bool persistent)
    : rank_(rank),
      executor_(rank.executor),
      team_(team),
      persistent_(persistent),
      collective_(executor_.take()),
      kind_(static_cast<Kind>(random.below(static_cast<uint64_t>(Kind::count_of_them)))),
      root_(static_cast<int>(random.below(static_cast<uint64_t>(team.size)))),
      count_(random.chance(30) ? random.between(0, most) : random.between(0, 4)),
      type_(random.chance(30) ? gappy_pair() : plain_pair()),
      in_place_(random.chance(30)),
      op_(random.chance(50) ? sum_op() : compose_op()) {
    bool uneven = kind_ == Kind::reduce_scatter || kind_ == Kind::gatherv || kind_ == Kind::scatterv ||
                  kind_ == Kind::allgatherv;
    int32_t space = 0;
    for (int r = 0; r < team.size; ++r) {
        counts_.push_back(static_cast<int32_t>(uneven ? random.between(0, count_) : count_));
        places_.push_back(space);
        space += counts_.back() + static_cast<int32_t>(uneven ? random.below(2) : 0);
    }
    plan_it();
}

void Operation::start(uint64_t number) {
    number_ = number;
    fill_();
    executor_.start(*collective_, team_);
}

void Operation::finish() {
    executor_.engine().wait_owned(collective_->completion);
    Error error = collective_->error;
    collective_->error = {};
    if (error) FAIL() << error.take().sentence;
    check_();
}

Pair Operation::own(int64_t i) const { return initial(number_, me(), i); }

// The reduction of element i over the ranks 0 to `last`, in this order.
Pair Operation::folded(int last, int64_t i) const {
    Pair value = initial(number_, 0, i);
    for (int r = 1; r <= last; ++r) value = combine(op_, value, initial(number_, r, i));
    return value;
}

void Operation::expect(Pair got, Pair wanted, int64_t i) const {
    static const char *const names[] = {
        "barrier", "bcast", "reduce", "allreduce", "scan", "exscan", "reduce_scatter_block", "reduce_scatter",
        "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv",
        "alltoallw"
    };
    ASSERT_EQ(got, wanted) << names[static_cast<size_t>(kind_)] << ", number " << number_ << ", rank " << me()
                           << " of " << size() << ", root " << root_ << ", element " << i << " of " << count_
                           << (in_place_ ? ", in place" : "");
}

void Operation::plan_it() {
    switch (kind_) {
        case Kind::barrier: return plan(plan_barrier);
        case Kind::bcast: return plan_bcast_of_root();
        case Kind::gather:
        case Kind::gatherv:
        case Kind::allgather:
        case Kind::allgatherv: return plan_gathering();
        case Kind::scatter:
        case Kind::scatterv: return plan_scattering();
        case Kind::alltoall: return plan_exchange();
        case Kind::alltoallv: return plan_uneven_exchange();
        case Kind::alltoallw: return plan_typed_exchange();
        default: return plan_reduction();
    }
}

void Operation::plan_bcast_of_root() {
    Field &data = field(count_);
    plan(plan_bcast, data.buffer(0, count_), root_);
    fill_ = [this, &data] {
        for (int64_t i = 0; me() == root_ && i < count_; ++i) data.set(i, own(i));
    };
    check_ = [this, &data] {
        for (int64_t i = 0; i < count_; ++i) expect(data.get(i), initial(number_, root_, i), i);
    };
}

// Plans a reduce, allreduce, scan, exscan, reduce_scatter_block or reduce_scatter.
void Operation::plan_reduction() {
    bool scatters = kind_ == Kind::reduce_scatter_block || kind_ == Kind::reduce_scatter;
    int64_t first = 0, mine = count_, all = count_;
    if (scatters) {
        all = 0;
        for (int r = 0; r < size(); ++r) {
            if (r == me()) first = all;
            all += counts_[static_cast<size_t>(r)];
        }
        mine = own_count();
    }
    bool in_place = in_place_ && (kind_ != Kind::reduce || me() == root_);
    Field &contribution = field(all), &result = field(all);
    Reduction reduction{contribution.at(0), result.at(0), scatters ? count_ : all, &type_, &op_, in_place};
    bool has_result = true;
    int last = size() - 1;
    switch (kind_) {
        case Kind::reduce:
            plan(plan_reduce, reduction, root_);
            has_result = me() == root_;
            break;
        case Kind::allreduce: plan(plan_allreduce, reduction); break;
        case Kind::scan:
            plan(plan_scan, reduction);
            last = me();
            break;
        case Kind::exscan:
            plan(plan_exscan, reduction);
            last = me() - 1;
            has_result = last >= 0;
            break;
        case Kind::reduce_scatter_block: plan(plan_reduce_scatter_block, reduction); break;
        default: plan(plan_reduce_scatter, reduction, numbers(std::vector(counts_)));
    }
    fill_ = [=, this, &contribution, &result] {
        for (int64_t i = 0; i < all; ++i) (in_place ? result : contribution).set(i, own(i));
    };
    check_ = [=, this, &contribution, &result] {
        for (int64_t i = 0; has_result && i < mine; ++i) expect(result.get(i), folded(last, first + i), i);
        for (int64_t i = 0; !in_place && i < all; ++i) expect(contribution.get(i), own(i), i);
    };
}

// Plans a gather, gatherv, allgather or allgatherv.
void Operation::plan_gathering() {
    bool has_all = kind_ == Kind::allgather || kind_ == Kind::allgatherv || me() == root_,
         in_place = in_place_ && has_all;
    Field &part = field(own_count()), &all = field(space());
    Buffer sent = in_place ? Buffer{} : part.buffer(0, own_count());
    // copies, because the arrays need to exist only while the operation is planned
    std::vector<int32_t> counts = counts_, places = places_;
    Uneven received{all.at(0), numbers(counts), numbers(places), &type_};
    if (kind_ == Kind::gather) plan(plan_gather, sent, all.buffer(0, count_), root_);
    if (kind_ == Kind::gatherv) plan(plan_gatherv, sent, received, root_);
    if (kind_ == Kind::allgather) plan(plan_allgather, sent, all.buffer(0, count_));
    if (kind_ == Kind::allgatherv) plan(plan_allgatherv, sent, received);
    fill_ = [=, this, &part, &all] {
        for (int64_t i = 0; i < own_count(); ++i)
            if (in_place) all.set(place(me()) + i, own(i));
            else part.set(i, own(i));
    };
    check_ = [=, this, &all] {
        for (int r = 0; has_all && r < size(); ++r)
            for (int64_t i = 0; i < counts_[static_cast<size_t>(r)]; ++i)
                expect(all.get(place(r) + i), initial(number_, r, i), i);
    };
}

void Operation::plan_scattering() {
    bool is_root = me() == root_, in_place = in_place_ && is_root;
    Field &all = field(space()), &part = field(own_count());
    Buffer received = in_place ? Buffer{} : part.buffer(0, own_count());
    std::vector<int32_t> counts = counts_, places = places_;
    if (kind_ == Kind::scatterv)
        plan(plan_scatterv, Uneven{all.at(0), numbers(counts), numbers(places), &type_}, received, root_);
    else plan(plan_scatter, all.buffer(0, count_), received, root_);
    fill_ = [=, this, &all] {
        for (int64_t i = 0; is_root && i < space(); ++i) all.set(i, own(i));
    };
    check_ = [=, this, &part] {
        for (int64_t i = 0; !in_place && i < own_count(); ++i)
            expect(part.get(i), initial(number_, root_, place(me()) + i), i);
    };
}

void Operation::plan_exchange() {
    Field &sent = field(space()), &received = field(space());
    plan(plan_alltoall, in_place_ ? Even{} : sent.buffer(0, count_), received.buffer(0, count_));
    fill_ = [this, &sent, &received] {
        for (int64_t i = 0; i < space(); ++i) (in_place_ ? received : sent).set(i, own(i));
    };
    check_ = [this, &received] {
        for (int r = 0; r < size(); ++r)
            for (int64_t i = 0; i < count_; ++i)
                expect(received.get(place(r) + i), initial(number_, r, me() * count_ + i), i);
    };
}

// Plans an alltoallv in which ranks r and s send each other (r + s) mod (count + 1) elements.
void Operation::plan_uneven_exchange() {
    std::vector<int64_t> counts, places;
    int64_t space = 0;
    for (int r = 0; r < size(); ++r) {
        counts.push_back((r + me()) % (count_ + 1));
        places.push_back(space);
        space += counts.back() + r % 2;
    }
    Field &sent = field(space), &received = field(space);
    plan(plan_alltoallv, in_place_ ? Uneven{} : Uneven{sent.at(0), numbers(counts), numbers(places), &type_},
         Uneven{received.at(0), numbers(counts), numbers(places), &type_});
    auto each = [this, counts, places](const auto &use) {
        for (int r = 0; r < size(); ++r)
            for (int64_t i = 0; i < counts[static_cast<size_t>(r)]; ++i)
                use(r, i, places[static_cast<size_t>(r)] + i);
    };
    fill_ = [=, this, &sent, &received] {
        each([&](int r, int64_t i, int64_t at) {
            (in_place_ ? received : sent).set(at, exchanged(number_, me(), r, i));
        });
    };
    check_ = [=, this, &received] {
        each([&](int r, int64_t i, int64_t at) {
            expect(received.get(at), exchanged(number_, r, me(), i), i);
        });
    };
}

// Plans an alltoallw in which ranks r and s also send each other (r + s) mod (count + 1) elements. Each block
// has its own memory and its own datatype, alternately without and with gaps. Unless the operation is in
// place, the sender and the receiver of a block use different datatypes.
void Operation::plan_typed_exchange() {
    std::vector<int32_t> counts;
    std::vector<const Datatype *> send_types, receive_types;
    std::vector<Field *> sent, received;
    for (int r = 0; r < size(); ++r) {
        counts.push_back(static_cast<int32_t>((r + me()) % (count_ + 1)));
        bool gaps = (r + me()) % 2 == 0;
        send_types.push_back(gaps ? &gappy_pair() : &plain_pair());
        receive_types.push_back(gaps == in_place_ ? &gappy_pair() : &plain_pair());
        sent.push_back(&fields_.emplace_back(*send_types.back(), counts.back()));
        received.push_back(&fields_.emplace_back(*receive_types.back(), counts.back()));
    }
    // The displacements count from address zero, as with MPI_BOTTOM.
    std::vector<int64_t> send_places, receive_places;
    for (Field *part : sent) send_places.push_back(reinterpret_cast<int64_t>(part->at(0)));
    for (Field *part : received) receive_places.push_back(reinterpret_cast<int64_t>(part->at(0)));
    plan(plan_alltoallw,
         in_place_ ? Typed{} : Typed{nullptr, numbers(counts), numbers(send_places), send_types.data()},
         Typed{nullptr, numbers(counts), numbers(receive_places), receive_types.data()});
    auto each = [this, counts](const auto &use) {
        for (int r = 0; r < size(); ++r)
            for (int64_t i = 0; i < counts[static_cast<size_t>(r)]; ++i) use(r, static_cast<size_t>(r), i);
    };
    fill_ = [=, this] {
        each([&](int r, size_t at, int64_t i) {
            (in_place_ ? received : sent)[at]->set(i, exchanged(number_, me(), r, i));
        });
    };
    check_ = [=, this] {
        each([&](int r, size_t at, int64_t i) {
            expect(received[at]->get(i), exchanged(number_, r, me(), i), i);
        });
    };
}

void run_collectives(Rank &rank, Team &team, uint64_t seed, int count, int64_t most) {
    Random random(seed);
    EngineGuard guard(rank.engine);
    for (int i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
        Operation operation(rank, team, random, most);
        operation.start(random.below(100'000));
        operation.finish();
    }
}

uint32_t random_ranks_per_node(Random &random, uint32_t ranks) {
    return random.chance(40)   ? 1
           : random.chance(40) ? ranks
                               : static_cast<uint32_t>(random.between(1, ranks));
}

void expect_nothing_left(Job &job) {
    for (uint32_t own = 0; own < job.shape.ranks; ++own) {
        EXPECT_EQ(job.rank(own).messenger.unexpected().count(), 0u);
        EXPECT_EQ(job.rank(own).messenger.posted().count(), 0u);
    }
    job.end();
    EXPECT_EQ(job.memory.in_use, 0) << "node memory is left";
}

}  // namespace lanyard::sim
