// Tests collectives between the groups of an intercommunicator in every form, with every division of the
// ranks into two groups. Each rank of each group is the root once, and the data change from turn to turn. A
// plain loop computes the expected result. Errors are tested last.
#include "coll/forms.h"

#include <algorithm>
#include <vector>

#include "comm/check.h"

namespace {

constexpr int unwritten = -77;

// Element i of the data that rank `from` of one group sends to rank `to` of the other group.
int value(int turn, bool second, int from, int to, int i) {
    return turn * 100003 + second * 50021 + from * 1009 + to * 101 + i % 97;
}

template <class Form>
class Collectives {
public:
    Collectives(MPI_Comm comm, bool second, int length)
        : comm_(comm), second_(second), rank_(rank_in(comm)), own_(size_of(comm)), length_(length) {
        MPI_Comm_remote_size(comm, &other_);
        MPI_Type_create_resized(MPI_INT, 0, 8, &every_other_);
        MPI_Type_commit(&every_other_);
        for (int r = 0; r < other_; ++r) {
            // Block r has r % 3 more elements. The blocks lie in the reverse order of the ranks.
            counts_.push_back(length + r % 3);
            places_.push_back((other_ - 1 - r) * (length + 3));
            pair_counts_.push_back(length + (r + rank_) % 3);
            pair_bytes_.push_back(places_.back() * 8);
            spread_.push_back(every_other_);
        }
        own_length_ = length + rank_ % 3;
    }
    ~Collectives() { MPI_Type_free(&every_other_); }
    Collectives(const Collectives &) = delete;
    Collectives &operator=(const Collectives &) = delete;

    void run_all(int turns) {
        for (int i = 0; i < turns; ++i) {
            allreduce(i);
            reduce_scatter(i, false);
            reduce_scatter(i, true);
            allgather(i, false);
            allgather(i, true);
            alltoall(i);
            alltoallv(i, false);
            alltoallv(i, true);
        }
        for (bool root_second : {false, true})
            for (int root = 0; root < (root_second == second_ ? own_ : other_); ++root) {
                root_second_ = root_second;
                root_ = root;
                bcast(root);
                reduce(root);
                gather(root, false);
                gather(root, true);
                scatter(root, false);
                scatter(root, true);
            }
    }

private:
    bool has_root() const { return root_second_ == second_; }
    bool is_root() const { return has_root() && rank_ == root_; }
    int root() const { return !has_root() ? root_ : is_root() ? MPI_ROOT : MPI_PROC_NULL; }

    // Performs the call in its form. A persistent operation is started twice, and its output buffer is
    // restored before each start.
    template <class Function, class... Arguments>
    void call(Function function, Arguments... arguments) {
        if constexpr (Form::kind == CallKind::blocking) {
            check_equal(function(arguments..., comm_), MPI_SUCCESS);
        } else {
            MPI_Request request;
            if constexpr (Form::kind == CallKind::nonblocking)
                check_equal(function(arguments..., comm_, &request), MPI_SUCCESS);
            else check_equal(function(arguments..., comm_, MPI_INFO_NULL, &request), MPI_SUCCESS);
            for (int start = 0; start < 1 + (Form::kind == CallKind::persistent); ++start) {
                if constexpr (Form::kind == CallKind::persistent) {
                    std::fill(out_.begin(), out_.end(), start_value_);
                    if (keep_) out_ = in_;
                    MPI_Start(&request);
                }
                check_equal(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
            }
            if constexpr (Form::kind == CallKind::persistent) MPI_Request_free(&request);
        }
    }
    void room(int in, int out) {
        in_.assign(static_cast<size_t>(in), unwritten);
        out_.assign(static_cast<size_t>(out), unwritten);
        wanted_ = out_;
        keep_ = false;
    }
    void expect(const char *what) const {
        for (size_t i = 0; i < wanted_.size(); ++i) {
            if (out_[i] == wanted_[i]) continue;
            check(false, std::string(what) + " (" + Form::name + "): element " + std::to_string(i) + " is " +
                             std::to_string(out_[i]) + ", not " + std::to_string(wanted_[i]) +
                             "; groups of " + std::to_string(own_) + " and " + std::to_string(other_) +
                             ", length " + std::to_string(length_) + ", root " + std::to_string(root()));
        }
    }
    int sum_of_others(int turn, int i) const {
        int sum = 0;
        for (int r = 0; r < other_; ++r) sum += value(turn, !second_, r, 0, i);
        return sum;
    }

    void bcast(int turn) {
        room(0, length_);
        for (int i = 0; i < length_; ++i)
            wanted_[static_cast<size_t>(i)] = has_root() ? unwritten : value(turn, !second_, root_, 0, i);
        if (is_root()) {
            for (int i = 0; i < length_; ++i)
                out_[static_cast<size_t>(i)] = wanted_[static_cast<size_t>(i)] =
                    value(turn, second_, root_, 0, i);
            in_ = out_;
            keep_ = true;
        }
        call(Form::bcast, root() == MPI_PROC_NULL ? nullptr : out_.data(), length_, MPI_INT, root());
        expect("bcast");
    }
    void reduce(int turn) {
        room(length_, length_);
        for (int i = 0; i < length_; ++i) in_[static_cast<size_t>(i)] = value(turn, second_, rank_, 0, i);
        for (int i = 0; is_root() && i < length_; ++i)
            wanted_[static_cast<size_t>(i)] = sum_of_others(turn, i);
        // A rank that passes MPI_PROC_NULL as the root also passes MPI_BYTE, on which MPI_SUM is not defined.
        // The call must succeed, because this rank's datatype is ignored.
        MPI_Datatype type = root() == MPI_PROC_NULL ? MPI_BYTE : MPI_INT;
        call(Form::reduce, has_root() ? nullptr : in_.data(), is_root() ? out_.data() : nullptr, length_,
             type, MPI_SUM, root());
        expect("reduce");
    }
    void allreduce(int turn) {
        room(length_, length_);
        for (int i = 0; i < length_; ++i) in_[static_cast<size_t>(i)] = value(turn, second_, rank_, 0, i);
        for (int i = 0; i < length_; ++i) wanted_[static_cast<size_t>(i)] = sum_of_others(turn, i);
        call(Form::allreduce, in_.data(), out_.data(), length_, MPI_INT, MPI_SUM);
        expect("allreduce");
    }
    void reduce_scatter(int turn, bool uneven) {
        // Both groups reduce the same number of elements. In the uneven form, the last rank of a group
        // receives all elements of the result except the first few, of which each other rank receives one.
        int total = own_ * other_ * (length_ + 1);
        int each = uneven ? 1 : total / own_, mine = uneven && rank_ == own_ - 1 ? total - (own_ - 1) : each;
        std::vector<Count> counts(static_cast<size_t>(own_), each);
        if (uneven) counts.back() = total - (own_ - 1);
        room(total, mine);
        for (int i = 0; i < total; ++i) in_[static_cast<size_t>(i)] = value(turn, second_, rank_, 0, i);
        for (int i = 0; i < mine; ++i)
            wanted_[static_cast<size_t>(i)] = sum_of_others(turn, rank_ * each + i);
        if (uneven) call(Form::reduce_scatter, in_.data(), out_.data(), counts.data(), MPI_INT, MPI_SUM);
        else call(Form::reduce_scatter_block, in_.data(), out_.data(), each, MPI_INT, MPI_SUM);
        expect("reduce_scatter");
    }
    void gather(int turn, bool uneven) {
        int count = uneven ? own_length_ : length_;
        room(count, other_ * (length_ + 3));
        for (int i = 0; i < count; ++i) in_[static_cast<size_t>(i)] = value(turn, second_, rank_, 0, i);
        for (int r = 0; is_root() && r < other_; ++r) want(turn, r, 0, uneven);
        MPI_Datatype type = is_root() ? MPI_INT : MPI_DATATYPE_NULL;  // significant at the root only
        if (uneven)
            call(Form::gatherv, in_.data(), count, MPI_INT, out_.data(), counts_.data(), places_.data(), type,
                 root());
        else call(Form::gather, in_.data(), count, MPI_INT, out_.data(), length_, MPI_INT, root());
        expect("gather");
    }
    void scatter(int turn, bool uneven) {
        int count = uneven ? own_length_ : length_;
        room(other_ * (length_ + 3), count);
        for (int r = 0; is_root() && r < other_; ++r)
            for (int i = 0; i < (uneven ? length_ + r % 3 : length_); ++i)
                in_[begin_of(r, uneven) + static_cast<size_t>(i)] = value(turn, second_, root_, r, i);
        for (int i = 0; !has_root() && i < count; ++i)
            wanted_[static_cast<size_t>(i)] = value(turn, !second_, root_, rank_, i);
        if (uneven)
            call(Form::scatterv, in_.data(), counts_.data(), places_.data(), MPI_INT, out_.data(), count,
                 MPI_INT, root());
        else call(Form::scatter, in_.data(), length_, MPI_INT, out_.data(), count, MPI_INT, root());
        expect("scatter");
    }
    void allgather(int turn, bool uneven) {
        // In the even form, the blocks of the second group are longer than those of the first. In one turn of
        // three, the second group contributes nothing instead.
        auto each_of = [&](bool second) {
            return uneven ? -1 : second ? (turn % 3 == 1 ? 0 : length_ + 2) : length_;
        };
        int count = uneven ? own_length_ : each_of(second_), each = each_of(!second_);
        room(count, other_ * (length_ + 3));
        for (int i = 0; i < count; ++i) in_[static_cast<size_t>(i)] = value(turn, second_, rank_, 0, i);
        for (int r = 0; r < other_; ++r) {
            if (uneven) want(turn, r, 0, true);
            for (int i = 0; !uneven && i < each; ++i)
                wanted_[static_cast<size_t>(r * each + i)] = value(turn, !second_, r, 0, i);
        }
        if (uneven)
            call(Form::allgatherv, in_.data(), count, MPI_INT, out_.data(), counts_.data(), places_.data(),
                 MPI_INT);
        else call(Form::allgather, in_.data(), count, MPI_INT, out_.data(), each, MPI_INT);
        expect("allgather");
    }
    void alltoall(int turn) {
        room(other_ * length_, other_ * length_);
        for (int r = 0; r < other_; ++r)
            for (int i = 0; i < length_; ++i) {
                in_[static_cast<size_t>(r * length_ + i)] = value(turn, second_, rank_, r, i);
                wanted_[static_cast<size_t>(r * length_ + i)] = value(turn, !second_, r, rank_, i);
            }
        call(Form::alltoall, in_.data(), length_, MPI_INT, out_.data(), length_, MPI_INT);
        expect("alltoall");
    }
    // If `typed`, each element is followed by a gap.
    void alltoallv(int turn, bool typed) {
        int step = typed ? 2 : 1;
        room(other_ * (length_ + 3) * step, other_ * (length_ + 3) * step);
        for (int r = 0; r < other_; ++r)
            for (int i = 0; i < pair_counts_[static_cast<size_t>(r)]; ++i) {
                auto at = static_cast<size_t>((static_cast<int>(places_[static_cast<size_t>(r)]) + i) * step);
                in_[at] = value(turn, second_, rank_, r, i);
                wanted_[at] = value(turn, !second_, r, rank_, i);
            }
        if (typed)
            call(Form::alltoallw, in_.data(), pair_counts_.data(), pair_bytes_.data(), spread_.data(),
                 out_.data(), pair_counts_.data(), pair_bytes_.data(), spread_.data());
        else
            call(Form::alltoallv, in_.data(), pair_counts_.data(), places_.data(), MPI_INT, out_.data(),
                 pair_counts_.data(), places_.data(), MPI_INT);
        expect("alltoallv");
    }
    void want(int turn, int from, int to, bool uneven) {
        for (int i = 0; i < (uneven ? length_ + from % 3 : length_); ++i)
            wanted_[begin_of(from, uneven) + static_cast<size_t>(i)] = value(turn, !second_, from, to, i);
    }
    size_t begin_of(int block, bool uneven) const {
        return static_cast<size_t>(uneven ? static_cast<int>(places_[static_cast<size_t>(block)])
                                          : block * length_);
    }

    using Count = typename Form::Count;
    using Place = typename Form::Place;
    MPI_Comm comm_;
    bool second_, root_second_ = false, keep_ = false;
    int rank_, own_, other_ = 0, length_, own_length_ = 0, root_ = 0, start_value_ = unwritten;
    MPI_Datatype every_other_;
    std::vector<MPI_Datatype> spread_;
    std::vector<Count> counts_, pair_counts_;
    std::vector<Place> places_, pair_bytes_;
    std::vector<int> in_, out_, wanted_;
};

void barriers(MPI_Comm comm) {
    MPI_Request request;
    check_equal(MPI_Barrier(comm), MPI_SUCCESS);
    check_equal(MPI_Ibarrier(comm, &request), MPI_SUCCESS);
    check_equal(MPI_Barrier(comm), MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2; ++i) {
        MPI_Start(&request);
        check_equal(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    MPI_Request_free(&request);
}

void errors(MPI_Comm comm) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int in = 1, out = 2, others = 0;
    MPI_Comm_remote_size(comm, &others);
    std::vector<int> many(static_cast<size_t>(others));
    MPI_Request request;
    check_class(MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_COMM);
    check_class(MPI_Exscan(&in, &out, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_COMM);
    check_class(MPI_Iscan(&in, &out, 1, MPI_INT, MPI_SUM, comm, &request), MPI_ERR_COMM);
    check_class(MPI_Scan_init(&in, &out, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request), MPI_ERR_COMM);
    check_class(MPI_Allreduce(MPI_IN_PLACE, &out, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    check_class(MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, many.data(), 1, MPI_INT, comm), MPI_ERR_BUFFER);
    check_class(MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, many.data(), 1, MPI_INT, MPI_ROOT, comm),
                MPI_ERR_BUFFER);
    check_class(MPI_Bcast(&in, 1, MPI_INT, others, comm), MPI_ERR_ROOT);
    check_class(MPI_Bcast(&in, 1, MPI_INT, -7, comm), MPI_ERR_ROOT);
    check_class(MPI_Allreduce(&in, &in, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    check_class(MPI_Bcast(&in, 1, MPI_INT, MPI_ROOT, MPI_COMM_SELF), MPI_ERR_ROOT);
    MPI_Barrier(comm);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int low = 1; low < size; ++low) {
        bool second = rank >= low;
        MPI_Comm local, inter;
        MPI_Comm_split(MPI_COMM_WORLD, second, rank, &local);
        MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, second ? 0 : low, 5, &inter);
        for (int length : {0, 1, 5, 3000}) {
            Collectives<BlockingLarge>(inter, second, length).run_all(3);
            Collectives<NonblockingLarge>(inter, second, length).run_all(3);
            Collectives<Persistent>(inter, second, length).run_all(3);
            Collectives<PersistentLarge>(inter, second, length).run_all(1);
        }
        barriers(inter);
        errors(inter);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&local);
    }
    MPI_Finalize();
    return 0;
}
