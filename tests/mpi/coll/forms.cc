// Tests every collective in the forms that the other programs leave out: blocking and nonblocking with large
// counts, and persistent with both kinds of counts, with and without MPI_IN_PLACE. All sixteen collectives
// are under way at once on one communicator, with blocks of unequal sizes, gaps and a permuted order. The
// collectives are repeated with changed data, and each rank starts the persistent ones in a different order.
// A plain loop computes the expected result.
#include "coll/forms.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "comm/check.h"

namespace {

constexpr int unwritten = -77, collectives = 16;

// Element i of the data that rank `from` sends to rank `to` in one turn. The values are so small that the sum
// over all ranks fits into an int.
int value(int turn, int from, int to, int i) { return turn * 100003 + from * 1009 + to * 101 + i % 97; }


template <class Form>
class Collectives {
public:
    Collectives(MPI_Comm comm, int length, bool in_place)
        : comm_(comm), rank_(rank_in(comm)), size_(size_of(comm)), length_(length), in_place_(in_place) {
        for (int r = 0; r < size_; ++r) {
            // Block r has r % 3 more elements. The blocks lie in the reverse order of the ranks, with a gap
            // of at least one element between them.
            counts_.push_back(length + r % 3);
            places_.push_back((size_ - 1 - r) * (length + 3));
            // Two ranks send each other the same number of elements. This number differs between pairs.
            pair_counts_.push_back(length + (r + rank_) % 3);
            pair_bytes_.push_back(places_.back() * 4);
            spread_bytes_.push_back(places_.back() * 8);
            plain_types_.push_back(MPI_INT);
        }
        own_length_ = length + rank_ % 3;
        std::fill(std::begin(requests_), std::end(requests_), MPI_REQUEST_NULL);
        MPI_Type_create_resized(MPI_INT, 0, 8, &every_other_);
        MPI_Type_commit(&every_other_);
        spread_types_.assign(static_cast<size_t>(size_), every_other_);
        for (int k = 0; k < collectives; ++k) {
            in_[k].resize(static_cast<size_t>(size_ * (length + 3)));
            out_[k].resize(static_cast<size_t>(size_ * (length + 3) * 2));
        }
    }
    ~Collectives() { MPI_Type_free(&every_other_); }
    Collectives(const Collectives &) = delete;
    Collectives &operator=(const Collectives &) = delete;

    void run(int turns) {
        constexpr bool persistent = Form::kind == CallKind::persistent;
        if (persistent) call_all();
        for (int turn = 0; turn < turns; ++turn) {
            fill(turn);
            if (!persistent) call_all();
            else start(turn);
            if (Form::kind != CallKind::blocking) complete(turn);
            verify(turn);
        }
        for (MPI_Request &request : requests_) {
            if (persistent) MPI_Request_free(&request);
            check(request == MPI_REQUEST_NULL, "a request is left");
        }
    }

private:
    template <class Function, class... Arguments>
    void call(int k, Function function, Arguments... arguments) {
        int code;
        if constexpr (Form::kind == CallKind::blocking) code = function(arguments..., comm_);
        else if constexpr (Form::kind == CallKind::nonblocking)
            code = function(arguments..., comm_, &requests_[k]);
        else code = function(arguments..., comm_, MPI_INFO_NULL, &requests_[k]);
        check_equal(code, MPI_SUCCESS);
    }

    int *in(int k) { return in_[k].data(); }
    int *out(int k) { return out_[k].data(); }
    // Returns whether this rank passes MPI_IN_PLACE as the send buffer. In a collective with a root, only the
    // root may pass it.
    bool sends_in_place(int k) const {
        return in_place_ && k != 7 && k != 8 && (root(k) < 0 || root(k) == rank_);
    }
    bool receives_in_place(int k) const { return in_place_ && (k == 7 || k == 8) && root(k) == rank_; }
    int root(int k) const { return k == 6 || k == 8 ? 0 : k == 5 || k == 7 || k == 9 ? last() : -1; }
    const void *sent(int k) { return sends_in_place(k) ? MPI_IN_PLACE : in(k); }
    void *received(int k) { return receives_in_place(k) ? MPI_IN_PLACE : out(k); }

    void call_all() {
        const auto *counts = counts_.data();
        const auto *places = places_.data();
        const auto *pair = pair_counts_.data();
        const MPI_Datatype *ints = plain_types_.data(), *spread = spread_types_.data();
        call(0, Form::allgather, sent(0), length_, MPI_INT, out(0), length_, MPI_INT);
        call(1, Form::allgatherv, sent(1), own_length_, MPI_INT, out(1), counts, places, MPI_INT);
        call(2, Form::alltoall, sent(2), length_, MPI_INT, out(2), length_, MPI_INT);
        call(3, Form::alltoallv, sent(3), pair, places, MPI_INT, out(3), pair, places, MPI_INT);
        call(4, Form::alltoallw, sent(4), pair, pair_bytes_.data(), ints, out(4), pair, spread_bytes_.data(),
             spread);
        call(5, Form::gather, sent(5), length_, MPI_INT, out(5), length_, MPI_INT, root(5));
        call(6, Form::gatherv, sent(6), own_length_, MPI_INT, out(6), counts, places, MPI_INT, root(6));
        call(7, Form::scatter, in(7), length_, MPI_INT, received(7), length_, MPI_INT, root(7));
        call(8, Form::scatterv, in(8), counts, places, MPI_INT, received(8), own_length_, MPI_INT, root(8));
        call(9, Form::reduce, sent(9), out(9), length_, MPI_INT, MPI_SUM, root(9));
        call(10, Form::reduce_scatter, sent(10), out(10), counts, MPI_INT, MPI_SUM);
        call(11, Form::reduce_scatter_block, sent(11), out(11), length_, MPI_INT, MPI_MAX);
        call(12, Form::scan, sent(12), out(12), length_, MPI_INT, MPI_SUM);
        call(13, Form::exscan, sent(13), out(13), length_, MPI_INT, MPI_SUM);
        call(14, Form::allreduce, sent(14), out(14), length_, MPI_INT, MPI_SUM);
        call(15, Form::bcast, out(15), length_, MPI_INT, last());
    }

    // Starts the persistent operations, in an order that differs between ranks and turns. In one turn of
    // four, a single call starts them all.
    void start(int turn) {
        if (turn % 4 == 0) {
            MPI_Startall(collectives, requests_);
            return;
        }
        for (int k : shuffled(static_cast<unsigned>(turn * 64 + rank_))) MPI_Start(&requests_[k]);
    }
    void complete(int turn) {
        if (turn % 3 == 0) {
            MPI_Waitall(collectives, requests_, MPI_STATUSES_IGNORE);
            return;
        }
        for (int k : shuffled(static_cast<unsigned>(turn * 64 + rank_ + 32)))
            MPI_Wait(&requests_[k], MPI_STATUS_IGNORE);
    }
    static std::vector<int> shuffled(unsigned seed) {
        std::vector<int> order(collectives);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), std::mt19937(seed));
        return order;
    }

    void fill(int turn) {
        for (int k = 0; k < collectives; ++k) {
            std::fill(in_[k].begin(), in_[k].end(), unwritten);
            std::fill(out_[k].begin(), out_[k].end(), unwritten);
            for (int r = 0; r < size_; ++r)
                for (int i = 0; i < length_ + 2; ++i) in(k)[block_at(k, r) + i] = value(turn, rank_, r, i);
        }
        // These collectives send one block, the same to all ranks. It may be longer than the blocks of the
        // others.
        for (int k : {1, 6})
            for (int i = 0; i < length_ + 2; ++i) in(k)[i] = value(turn, rank_, 0, i);
        int at = 0;
        for (int r = 0; r < size_; ++r)
            for (int i = 0; i < static_cast<int>(counts_[static_cast<size_t>(r)]); ++i)
                in(10)[at++] = value(turn, rank_, r, i);
        if (rank_ == last())
            for (int i = 0; i < length_; ++i) out(15)[i] = value(turn, rank_, 0, i);
        for (int k = 0; k < 15; ++k)
            if (sends_in_place(k)) put_in_place(k);
    }
    // Moves the data that collective k would send into the receive buffer, to the position that MPI_IN_PLACE
    // requires.
    void put_in_place(int k) {
        auto own = static_cast<size_t>(rank_);
        int length = k == 10   ? static_cast<int>(std::reduce(counts_.begin(), counts_.end()))
                     : k == 11 ? size_ * length_
                               : length_;
        if (k == 0 || k == 5) std::copy_n(in(k), length_, out(k) + rank_ * length_);
        else if (k == 1 || k == 6) std::copy_n(in(k), own_length_, out(k) + places_[own]);
        else if (k == 2) std::copy_n(in(k), size_ * length_, out(k));
        else if (k > 8) std::copy_n(in(k), length, out(k));
        for (size_t r = 0; (k == 3 || k == 4) && r < counts_.size(); ++r)
            for (int i = 0; i < pair_counts_[r]; ++i)
                out(k)[(places_[r] + i) * (k - 2)] = in(k)[places_[r] + i];
        std::fill(in_[k].begin(), in_[k].end(), unwritten);
    }
    // The start of block r. If the function takes displacements, this is the block's displacement. Otherwise
    // the blocks follow each other without gaps.
    int block_at(int k, int r) const {
        bool placed = k == 3 || k == 4 || k == 8;
        return placed ? static_cast<int>(places_[static_cast<size_t>(r)]) : r * length_;
    }

    // Checks `count` elements of collective k, beginning at index `place`: element i must be `wanted(i)`.
    // Then marks these elements as unwritten, so that verify() can check that all other elements are
    // untouched.
    template <class Wanted>
    void expect(int k, int place, int count, Wanted wanted, int stride = 1) {
        for (int i = 0; i < count; ++i) {
            int &is = out(k)[place + i * stride];
            if (is != wanted(i)) wrong(k, place + i * stride, is, wanted(i));
            is = unwritten;
        }
    }
    void wrong(int k, int at, int is, int wanted) {
        std::string which =
            std::string(Form::name) + (in_place_ ? ", in place" : "") + ", collective " + std::to_string(k);
        check(false, which + ", " + std::to_string(length_) + " elements: number " + std::to_string(at) +
                         " is " + std::to_string(is) + ", not " + std::to_string(wanted));
    }

    void verify(int turn) {
        for (int r = 0; r < size_; ++r) {
            auto at = static_cast<size_t>(r);
            int place = static_cast<int>(places_[at]), pair = static_cast<int>(pair_counts_[at]),
                count = static_cast<int>(counts_[at]);
            auto first = [&](int i) { return value(turn, r, 0, i); };
            auto mine = [&](int i) { return value(turn, r, rank_, i); };
            expect(0, r * length_, length_, first);
            expect(1, place, count, first);
            expect(2, r * length_, length_, mine);
            expect(3, place, pair, mine);
            expect(4, place * 2, pair, mine, 2);
            if (rank_ == last()) expect(5, r * length_, length_, first);
            if (rank_ == 0) expect(6, place, count, first);
        }
        if (!receives_in_place(7))
            expect(7, 0, length_, [&](int i) { return value(turn, last(), rank_, i); });
        if (!receives_in_place(8))
            expect(8, 0, own_length(), [&](int i) { return value(turn, 0, rank_, i); });
        auto sum = [&](int from, int ranks, int i) {
            int total = 0;
            for (int r = 0; r < ranks; ++r) total += value(turn, r, from, i);
            return total;
        };
        if (rank_ == last()) expect(9, 0, length_, [&](int i) { return sum(0, size_, i); });
        expect(10, 0, own_length(), [&](int i) { return sum(rank_, size_, i); });
        expect(11, 0, length_, [&](int i) { return value(turn, size_ - 1, rank_, i); });
        expect(12, 0, length_, [&](int i) { return sum(0, rank_ + 1, i); });
        if (rank_ > 0) expect(13, 0, length_, [&](int i) { return sum(0, rank_, i); });
        expect(14, 0, length_, [&](int i) { return sum(0, size_, i); });
        expect(15, 0, length_, [&](int i) { return value(turn, last(), 0, i); });
        for (int k = 0; k < collectives; ++k) {
            // With MPI_IN_PLACE, the contents of the buffer outside the result are undefined.
            bool left = in_place_ && (k == 10 || k == 11 || (k == 13 && rank_ == 0));
            for (size_t i = 0; !left && i < out_[k].size(); ++i)
                if (out(k)[i] != unwritten) wrong(k, static_cast<int>(i), out(k)[i], unwritten);
        }
    }
    int own_length() const { return static_cast<int>(own_length_); }
    int last() const { return size_ - 1; }

    MPI_Comm comm_;
    int rank_, size_, length_;
    bool in_place_;
    typename Form::Count own_length_ = 0;
    std::vector<typename Form::Count> counts_, pair_counts_;
    std::vector<typename Form::Place> places_, pair_bytes_, spread_bytes_;
    std::vector<MPI_Datatype> plain_types_, spread_types_;
    MPI_Datatype every_other_ = MPI_DATATYPE_NULL;
    std::vector<int> in_[collectives], out_[collectives];
    MPI_Request requests_[collectives];
};

template <class Form>
void run(MPI_Comm comm) {
    for (bool in_place : {false, true})
        for (int length : {0, 1, 7, 1000, 20000})
            Collectives<Form>(comm, length, in_place).run(length < 1000 ? 10 : length < 10000 ? 5 : 2);
}

// Starts two persistent operations on one communicator, with a blocking collective between their starts.
void start_around_blocking(MPI_Comm comm) {
    int rank = rank_in(comm), size = size_of(comm), own[2], sum[2], told;
    MPI_Request requests[2];
    MPI_Allreduce_init(&own[0], &sum[0], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Scan_init_c(&own[1], &sum[1], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[1]);
    for (int turn = 0; turn < 10; ++turn) {
        own[0] = turn;
        own[1] = turn * 10;
        told = rank == turn % size ? turn : -1;
        int early = (rank + turn) % 2;
        MPI_Start(&requests[early]);
        MPI_Bcast_c(&told, 1, MPI_INT, turn % size, comm);
        MPI_Start(&requests[1 - early]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        check_equal(told, turn);
        check_equal(sum[0], turn * size);
        check_equal(sum[1], turn * 10 * (rank + 1));
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

// A pair (a, b) stands for the polynomial a + bx. The operation substitutes one polynomial into the other, so
// the order of the operands matters.
void compose(void *in, void *inout, MPI_Count *count, MPI_Datatype *) {
    auto *first = static_cast<int *>(in), *second = static_cast<int *>(inout);
    for (MPI_Count i = 0; i < *count; ++i, first += 2, second += 2) {
        second[0] += second[1] * first[0];
        second[1] *= first[1];
    }
}

// Tests a user-defined operation with large counts. It does not commute, so it must be applied in the order
// of the ranks.
void reduce_in_order(MPI_Comm comm) {
    MPI_Op op;
    MPI_Datatype pair;
    MPI_Op_create_c(compose, 0, &op);
    MPI_Type_contiguous_c(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    std::vector<int> own, all(200), wanted;
    for (int i = 0; i < 100; ++i) {
        own.insert(own.end(), {rank_in(comm) + i, 2});
        int constant = i, factor = 2;
        for (int r = 1; r < size_of(comm); ++r, factor *= 2) constant = r + i + 2 * constant;
        wanted.insert(wanted.end(), {constant, factor});
    }
    MPI_Allreduce_c(own.data(), all.data(), 100, pair, op, comm);
    check(all == wanted, "an operation that does not commute is done in another order");
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
}

void reduce_locally() {
    int in[3] = {1, 20, 3}, inout[3] = {4, 5, 6};
    MPI_Reduce_local_c(in, inout, MPI_Count{2}, MPI_INT, MPI_MAX);
    check_equal(inout[0], 4);
    check_equal(inout[1], 20);
    check_equal(inout[2], 6);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    run<BlockingLarge>(other);
    run<NonblockingLarge>(MPI_COMM_WORLD);
    run<Persistent>(other);
    run<PersistentLarge>(MPI_COMM_WORLD);
    start_around_blocking(other);
    reduce_in_order(other);
    reduce_locally();
    use(other);
    MPI_Comm_free(&other);
    MPI_Finalize();
}
