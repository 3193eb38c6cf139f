// Calls reductions of all forms with predefined and user-defined operations. One user-defined operation does
// not commute. The expected result combines the contributions in rank order (MPI-5.0 6.9).
#include <algorithm>

#include "world.h"

namespace random_calls {

namespace {

struct Matrix {
    uint32_t a, b, c, d;
};
struct Placed {
    int value, place;
};

// An operation on elements of a type: `op` for the library, and `fold` for the expected result. fold()
// computes right = left op right.
struct Arithmetic {
    MPI_Datatype type;
    MPI_Op op;
    size_t bytes;
    void (*draw)(Random &random, void *element);
    void (*fold)(const void *left, void *right);
};

template <class T, auto operation>
Arithmetic arithmetic(MPI_Datatype type, MPI_Op op) {
    return {
        type, op, sizeof(T),
        [](Random &random, void *element) { *static_cast<T *>(element) = static_cast<T>(random.below(100)); },
        [](const void *left, void *right) {
            T &result = *static_cast<T *>(right);
            result = static_cast<T>(operation(*static_cast<const T *>(left), result));
        }};
}

void draw_matrix(Random &random, void *element) {
    uint64_t one = random.next(), two = random.next();
    *static_cast<Matrix *>(element) = {static_cast<uint32_t>(one), static_cast<uint32_t>(one >> 32),
                                       static_cast<uint32_t>(two), static_cast<uint32_t>(two >> 32)};
}

// Multiplies matrices modulo 2^32. This is associative but does not commute.
void multiply(const void *left, void *right) {
    const Matrix &x = *static_cast<const Matrix *>(left);
    Matrix &y = *static_cast<Matrix *>(right);
    y = {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
}

void add_matrices(const void *left, void *right) {
    const Matrix &x = *static_cast<const Matrix *>(left);
    Matrix &y = *static_cast<Matrix *>(right);
    y = {x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d};
}

template <auto fold>
void for_the_library(void *left, void *right, int *count, MPI_Datatype *) {
    for (int i = 0; i < *count; ++i) fold(static_cast<Matrix *>(left) + i, static_cast<Matrix *>(right) + i);
}

void draw_placed(Random &random, void *element) {
    *static_cast<Placed *>(element) = {below(random, 5), below(random, 50)};
}

template <bool largest>
void take_place(const void *left, void *right) {
    const Placed &x = *static_cast<const Placed *>(left);
    Placed &y = *static_cast<Placed *>(right);
    if (x.value == y.value) y.place = std::min(x.place, y.place);
    else if ((x.value > y.value) == largest) y = x;
}

constexpr auto sum = [](auto a, auto b) { return a + b; };
constexpr auto product = [](auto a, auto b) { return a * b; };
constexpr auto most = [](auto a, auto b) { return std::max(a, b); };
constexpr auto least = [](auto a, auto b) { return std::min(a, b); };
constexpr auto both = [](auto a, auto b) { return a & b; };
constexpr auto either = [](auto a, auto b) { return a | b; };
constexpr auto one_of = [](auto a, auto b) { return a ^ b; };
constexpr auto all_true = [](auto a, auto b) { return a && b; };

// Draws an operation from a table. The last two operations are user-defined. Their MPI objects are created
// when they are used.
const Arithmetic &pick(Random &random) {
    static const Arithmetic table[] = {
        arithmetic<int64_t, sum>(MPI_INT64_T, MPI_SUM),
        arithmetic<double, sum>(MPI_DOUBLE, MPI_SUM),
        arithmetic<float, most>(MPI_FLOAT, MPI_MAX),
        arithmetic<uint32_t, product>(MPI_UINT32_T, MPI_PROD),
        arithmetic<int, least>(MPI_INT, MPI_MIN),
        arithmetic<uint8_t, both>(MPI_BYTE, MPI_BAND),
        arithmetic<int16_t, either>(MPI_INT16_T, MPI_BOR),
        arithmetic<uint64_t, one_of>(MPI_UINT64_T, MPI_BXOR),
        arithmetic<int, all_true>(MPI_INT, MPI_LAND),
        {MPI_2INT, MPI_MAXLOC, sizeof(Placed), draw_placed, take_place<true>},
        {MPI_2INT, MPI_MINLOC, sizeof(Placed), draw_placed, take_place<false>},
        {MPI_DATATYPE_NULL, MPI_OP_NULL, sizeof(Matrix), draw_matrix, multiply},
        {MPI_DATATYPE_NULL, MPI_OP_NULL, sizeof(Matrix), draw_matrix, add_matrices}};
    return table[random.below(std::size(table))];
}

enum class Kind { reduce, allreduce, scan, exscan, scatter_block, scatter, count_of_them };

class Reduction {
public:
    Reduction(World &world, const Comm &comm)
        : world_(world),
          comm_(comm),
          ongoing_(std::make_unique<Ongoing>()),
          arithmetic_(pick(world.script)),
          me_(world.place_in(comm)) {
        Random &script = world.script;
        kind_ = static_cast<Kind>(script.below(static_cast<uint64_t>(Kind::count_of_them)));
        form_ = draw_form(world, *ongoing_);
        root_ = below(script, comm.size());
        in_place_ = script.chance(25);
        key_ = script.next();
        int limit = script.chance(75) ? 9 : script.chance(75) ? 300 : 20000, same = between(script, 0, limit);
        for (int i = 0; i < comm.size(); ++i)
            shares_.push_back(kind_ == Kind::scatter ? between(script, 0, limit) : same);
    }

    void run() {
        if (me_ < 0) return;
        bool scattered = kind_ >= Kind::scatter_block;
        int count = 0, first = 0;
        for (int i = 0; i < comm_.size(); ++i) {
            if (i < me_) first += shares_[static_cast<size_t>(i)];
            count += shares_[static_cast<size_t>(i)];
        }
        if (!scattered) count = shares_[0], first = 0;
        int mine = scattered ? shares_[static_cast<size_t>(me_)] : count;
        if (kind_ == Kind::reduce && me_ != root_) in_place_ = false;
        auto state =
            std::make_shared<State>(State{arithmetic_, key_, 0, me_, count, first, mine, in_place_, {}, {}});
        state->last = kind_ == Kind::scan ? me_ : kind_ == Kind::exscan ? me_ - 1 : comm_.size() - 1;
        state->receives = kind_ == Kind::reduce ? me_ == root_ : kind_ != Kind::exscan || me_ > 0;
        state->in.resize(static_cast<size_t>(count) * arithmetic_.bytes + 8);
        state->out.resize(static_cast<size_t>(count) * arithmetic_.bytes + 8);
        ongoing_->numbers.push_back(shares_);
        ongoing_->fill = [state] { state->fill(); };
        ongoing_->check = [state] { state->compare(); };
        if (form_ != Form::again) state->fill();
        call(*state);
        go_on(world_, std::move(ongoing_), form_);
    }

private:
    struct State {
        Arithmetic arithmetic;
        uint64_t key, round;
        // this member receives `mine` elements of the result, beginning with element `first`
        int me, count, first, mine;
        bool in_place;
        std::vector<std::byte> in, out;
        int last = 0;  // the result combines the contributions of members 0 to `last`
        bool receives = true;

        // Returns the contribution of one member in the current round.
        std::vector<std::byte> contribution(int member) const {
            std::vector<std::byte> all(in.size());
            Random random(key + round * 1000 + static_cast<uint64_t>(member));
            for (int i = 0; i < count; ++i)
                arithmetic.draw(random, all.data() + static_cast<size_t>(i) * arithmetic.bytes);
            return all;
        }
        void fill() {
            ++round;
            std::vector<std::byte> own = contribution(me);
            std::copy(own.begin(), own.end(), in.begin());  // persistent operations refer to this memory
            std::fill(out.begin(), out.end(), std::byte{0x5a});
            if (in_place) std::copy(in.begin(), in.end(), out.begin());
        }
        void compare() const {
            check(in == contribution(me), "a reduction changed what it was given");
            if (!receives) return;
            std::vector<std::byte> wanted = contribution(last);
            for (int member = last - 1; member >= 0; --member) {
                std::vector<std::byte> left = contribution(member);
                for (size_t i = 0; i < static_cast<size_t>(count); ++i)
                    arithmetic.fold(left.data() + i * arithmetic.bytes, wanted.data() + i * arithmetic.bytes);
            }
            auto begin = wanted.begin() + static_cast<long>(static_cast<size_t>(first) * arithmetic.bytes);
            check(std::equal(begin, begin + static_cast<long>(static_cast<size_t>(mine) * arithmetic.bytes),
                             out.begin()),
                  "a reduction has a wrong result");
        }
    };

    void call(State &state) {
        Ongoing &o = *ongoing_;
        MPI_Comm comm = comm_.handle;
        MPI_Datatype type = arithmetic_.type;
        MPI_Op op = arithmetic_.op;
        bool own = type == MPI_DATATYPE_NULL;
        if (own) {
            bool commutes = arithmetic_.fold == add_matrices;
            MPI_Type_contiguous(4, MPI_UINT32_T, &type);
            MPI_Type_commit(&type);
            MPI_Op_create(commutes ? for_the_library<add_matrices> : for_the_library<multiply>, commutes,
                          &op);
        }
        const void *in = in_place_ ? MPI_IN_PLACE : state.in.data();
        void *out = state.out.data();
        const int *shares = o.numbers[0].data();
        int count = state.count;
        switch (kind_) {
        case Kind::reduce:
            begin(form_, o, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, in, out, count, type, op, root_,
                  comm);
            break;
        case Kind::allreduce:
            begin(form_, o, MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, in, out, count, type, op,
                  comm);
            break;
        case Kind::scan:
            begin(form_, o, MPI_Scan, MPI_Iscan, MPI_Scan_init, in, out, count, type, op, comm);
            break;
        case Kind::exscan:
            begin(form_, o, MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, in, out, count, type, op, comm);
            break;
        case Kind::scatter_block:
            begin(form_, o, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
                  MPI_Reduce_scatter_block_init, in, out, shares_[0], type, op, comm);
            break;
        default:
            begin(form_, o, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, in, out,
                  shares, type, op, comm);
        }
        if (own) {  // the objects are freed while the operation continues
            MPI_Op_free(&op);
            MPI_Type_free(&type);
        }
    }

    World &world_;
    const Comm &comm_;
    std::unique_ptr<Ongoing> ongoing_;
    const Arithmetic &arithmetic_;
    int me_, root_;
    Kind kind_;
    Form form_;
    bool in_place_;
    uint64_t key_;
    std::vector<int> shares_;
};

}  // namespace

void reduce_collectively(World &world) { Reduction(world, world.any_comm()).run(); }

}  // namespace random_calls
