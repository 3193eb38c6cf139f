// Calls collective operations that move data (world.h). The result must follow the definition: block d of
// member o goes to member d (or to all), whatever the layouts on both sides.
#include "sides.h"

namespace random_calls {

namespace {

enum class Kind {
    barrier, bcast, gather, gatherv, scatter, scatterv, allgather, allgatherv, alltoall, alltoallv, alltoallw,
    count_of_them
};

const char *const names[] = {"barrier",   "bcast",      "gather",   "gatherv",   "scatter",  "scatterv",
                             "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"};

bool uneven(Kind kind) {
    return kind == Kind::gatherv || kind == Kind::scatterv || kind == Kind::allgatherv ||
           kind == Kind::alltoallv || kind == Kind::alltoallw;
}

class Move {
public:
    Move(World &world, const Comm &comm) : world_(world), comm_(comm), ongoing_(std::make_unique<Ongoing>()) {
        Random &script = world.script;
        kind_ = static_cast<Kind>(script.below(static_cast<uint64_t>(Kind::count_of_them)));
        form_ = draw_form(world, *ongoing_);
        root_ = below(script, comm.size());
        unit_ = random_signature(script, 8);
        key_ = script.next();
        int most = script.chance(75) ? 9 : script.chance(75) ? 300 : 3000, same = between(script, 0, most);
        for (int i = 0; i < comm.size() * comm.size(); ++i)
            lengths_.push_back(uneven(kind_) ? between(script, 0, most) : same);
        me_ = world.place_in(comm);
    }

    void run() {
        if (me_ < 0) return;
        bool sends = kind_ != Kind::scatter && kind_ != Kind::scatterv,
             receives = kind_ != Kind::gather && kind_ != Kind::gatherv;
        make_sent(sends || me_ == root_);
        make_received(receives || me_ == root_);
        auto round = std::make_shared<uint64_t>(0);
        // The operation may outlive this object, so it has copies of everything that it uses.
        ongoing_->fill = [fill = fill_, round] { fill(++*round); };
        ongoing_->check = [check = check_, round] { check(*round); };
        if (form_ != Form::again) ongoing_->fill();
        call();
        go_on(world_, std::move(ongoing_), form_);
    }

private:
    // Returns the contents of block `block` of member `from`.
    static Content content(uint64_t key, uint64_t round, int from, int block) {
        return {key + round * 1000000 + static_cast<uint64_t>(from) * 1000 + static_cast<uint64_t>(block)};
    }
    // Returns whether a member sends the same block to all members. Otherwise it sends a different block to
    // each.
    bool one_for_all() const {
        return kind_ == Kind::bcast || kind_ == Kind::gather || kind_ == Kind::gatherv ||
               kind_ == Kind::allgather || kind_ == Kind::allgatherv;
    }
    int length(int from, int to) const {
        return lengths_[static_cast<size_t>(from * comm_.size() + (one_for_all() ? 0 : to))];
    }
    bool to_each() const {
        return kind_ >= Kind::alltoall || kind_ == Kind::scatter || kind_ == Kind::scatterv;
    }
    bool from_each() const {
        return kind_ >= Kind::gather && kind_ != Kind::scatter && kind_ != Kind::scatterv;
    }

    void make_sent(bool wanted) {
        std::vector<int> lengths;
        int from = kind_ == Kind::bcast ? root_ : me_, blocks_sent = to_each() ? comm_.size() : 1;
        for (int i = 0; wanted && kind_ != Kind::barrier && i < blocks_sent; ++i)
            lengths.push_back(length(from, i));
        sent_ = make_side(world_, *ongoing_, unit_, lengths, uneven(kind_) && to_each(),
                          kind_ == Kind::alltoallw);
        bool mine = kind_ != Kind::bcast || me_ == root_;
        fill_ = [area = sent_.area, key = key_, me = me_,
                 blocks = mine ? lengths.size() : 0](uint64_t round) {
            for (size_t i = 0; i < blocks; ++i) area->put(i, content(key, round, me, static_cast<int>(i)));
        };
    }

    void make_received(bool wanted) {
        std::vector<int> lengths, sources;
        bool broadcast = kind_ == Kind::bcast;
        for (int i = 0;
             wanted && !broadcast && kind_ != Kind::barrier && i < (from_each() ? comm_.size() : 1); ++i) {
            sources.push_back(from_each() ? i : root_);
            lengths.push_back(length(sources.back(), me_));
        }
        if (!broadcast)
            received_ = make_side(world_, *ongoing_, unit_, lengths, uneven(kind_) && from_each(),
                                  kind_ == Kind::alltoallw);
        Area *area = broadcast ? sent_.area : received_.area;
        if (broadcast) sources.push_back(root_);
        int block = one_for_all() ? 0 : me_;
        std::string name = in_words(form_) + names[static_cast<size_t>(kind_)];
        check_ = [name, area, sent = sent_.area, sources, block, key = key_](uint64_t round) {
            for (size_t i = 0; i < sources.size(); ++i)
                area->expect(i, content(key, round, sources[i], block));
            area->check_it("what a " + name + " received");
            sent->check_it("what a " + name + " sent");
        };
    }

    void call() {
        Ongoing &o = *ongoing_;
        MPI_Comm comm = comm_.handle;
        const int *out_counts = sent_.counts, *out_places = sent_.places, *in_counts = received_.counts,
                  *in_places = received_.places;
        const MPI_Datatype *out_types = sent_.types, *in_types = received_.types;
        void *out = sent_.area->address();
        MPI_Datatype out_type = sent_.type, in_type = received_.type;
        int out_count = length(kind_ == Kind::bcast ? root_ : me_, 0);
        if (kind_ == Kind::barrier) return begin(form_, o, MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init, comm);
        if (kind_ == Kind::bcast)
            return begin(form_, o, MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, out, out_count, out_type, root_,
                         comm);
        void *in = received_.area->address();
        int in_count = length(from_each() ? 0 : root_, me_);
        switch (kind_) {
        case Kind::gather:
            return begin(form_, o, MPI_Gather, MPI_Igather, MPI_Gather_init,
                         out, out_count, out_type, in, in_count, in_type, root_, comm);
        case Kind::gatherv:
            return begin(form_, o, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init,
                         out, out_count, out_type, in, in_counts, in_places, in_type, root_, comm);
        case Kind::scatter:
            return begin(form_, o, MPI_Scatter, MPI_Iscatter, MPI_Scatter_init,
                         out, out_count, out_type, in, in_count, in_type, root_, comm);
        case Kind::scatterv:
            return begin(form_, o, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init,
                         out, out_counts, out_places, out_type, in, in_count, in_type, root_, comm);
        case Kind::allgather:
            return begin(form_, o, MPI_Allgather, MPI_Iallgather, MPI_Allgather_init,
                         out, out_count, out_type, in, in_count, in_type, comm);
        case Kind::allgatherv:
            return begin(form_, o, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init,
                         out, out_count, out_type, in, in_counts, in_places, in_type, comm);
        case Kind::alltoall:
            return begin(form_, o, MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init,
                         out, out_count, out_type, in, in_count, in_type, comm);
        case Kind::alltoallv:
            return begin(form_, o, MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init,
                         out, out_counts, out_places, out_type, in, in_counts, in_places, in_type, comm);
        default:
            return begin(form_, o, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init,
                         out, out_counts, out_places, out_types, in, in_counts, in_places, in_types, comm);
        }
    }

    World &world_;
    const Comm &comm_;
    std::unique_ptr<Ongoing> ongoing_;
    Kind kind_;
    Form form_;
    int root_, me_;
    Signature unit_;
    uint64_t key_;
    std::vector<int> lengths_;
    Side sent_, received_;
    std::function<void(uint64_t)> fill_;
    std::function<void(uint64_t)> check_;
};

}  // namespace

void move_collectively(World &world) { Move(world, world.any_comm()).run(); }

}  // namespace random_calls
