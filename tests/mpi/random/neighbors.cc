// Calls neighbourhood collectives on random graphs (world.h). All ranks have the same list of edges. Each
// edge carries one block.
#include "sides.h"

namespace random_calls {

namespace {

enum class Kind { allgather, allgatherv, alltoall, alltoallv, alltoallw, count_of_them };
const char *const names[] = {"neighbor allgather", "neighbor allgatherv", "neighbor alltoall",
                             "neighbor alltoallv", "neighbor alltoallw"};

struct Edge {
    int from, to, length;
    Content content;
};

class Talk {
public:
    Talk(World &world, const Comm &comm)
        : world_(world), parent_(comm.handle), ongoing_(std::make_unique<Ongoing>()) {
        Random &script = world.script;
        kind_ = static_cast<Kind>(script.below(static_cast<uint64_t>(Kind::count_of_them)));
        form_ = draw_form(world, *ongoing_);
        unit_ = random_signature(script, 8);
        int most = script.chance(80) ? 9 : 2000, same = between(script, 0, most);
        for (int i = 0; i < comm.size(); ++i)
            spoken_.push_back(
                {i, i, kind_ == Kind::allgather ? same : between(script, 0, most), {script.next()}});
        bool gathers = kind_ <= Kind::allgatherv;
        for (int i = below(script, 3 * comm.size()); i > 0; --i) {
            Edge edge{below(script, comm.size()),
                      below(script, comm.size()),
                      kind_ == Kind::alltoall ? same : between(script, 0, most),
                      {script.next()}};
            const Edge &spoken = spoken_[static_cast<size_t>(edge.from)];
            if (gathers) edge.length = spoken.length, edge.content = spoken.content;
            edges_.push_back(edge);
        }
        me_ = world.place_in(comm);
    }

    void run() {
        if (me_ < 0) return;
        std::vector<Edge> out, in;
        std::vector<int> sources, targets;
        for (const Edge &edge : edges_) {
            if (edge.to == me_) in.push_back(edge), sources.push_back(edge.from);
            if (edge.from == me_) out.push_back(edge), targets.push_back(edge.to);
        }
        MPI_Comm graph;
        MPI_Dist_graph_create_adjacent(parent_, static_cast<int>(sources.size()), sources.data(),
                                       MPI_UNWEIGHTED, static_cast<int>(targets.size()), targets.data(),
                                       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
        MPI_Comm_set_errhandler(graph, world_.handler);
        if (kind_ <= Kind::allgatherv) out = {spoken_[static_cast<size_t>(me_)]};
        sent_ = side_of(out, kind_ >= Kind::alltoallv);
        received_ = side_of(in, kind_ != Kind::allgather && kind_ != Kind::alltoall);
        auto round = std::make_shared<uint64_t>(0);
        ongoing_->fill = [round, out, area = sent_.area] {
            ++*round;
            for (size_t i = 0; i < out.size(); ++i) area->put(i, {out[i].content.key + *round});
        };
        ongoing_->check = [round, in, area = received_.area, sent = sent_.area,
                           name = in_words(form_) + names[static_cast<size_t>(kind_)]] {
            for (size_t i = 0; i < in.size(); ++i) area->expect(i, {in[i].content.key + *round});
            area->check_it("what a " + name + " received");
            sent->check_it("what a " + name + " sent");
        };
        if (form_ != Form::again) ongoing_->fill();
        call(graph, out.empty() ? 0 : out[0].length, in.empty() ? 0 : in[0].length);
        // the communicator is freed while the operation continues
        MPI_Comm_free(&graph);
        go_on(world_, std::move(ongoing_), form_);
    }

private:
    Side side_of(const std::vector<Edge> &edges, bool with_places) {
        std::vector<int> lengths;
        for (const Edge &edge : edges) lengths.push_back(edge.length);
        return make_side(world_, *ongoing_, unit_, lengths, with_places, kind_ == Kind::alltoallw);
    }

    void call(MPI_Comm graph, int out_count, int in_count) {
        Ongoing &o = *ongoing_;
        void *out = sent_.area->address(), *in = received_.area->address();
        const Side &s = sent_, &r = received_;
        switch (kind_) {
        case Kind::allgather:
            return begin(form_, o, MPI_Neighbor_allgather, MPI_Ineighbor_allgather,
                         MPI_Neighbor_allgather_init, out, out_count, s.type, in, in_count, r.type, graph);
        case Kind::allgatherv:
            return begin(form_, o, MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv,
                         MPI_Neighbor_allgatherv_init, out, out_count, s.type, in, r.counts, r.places, r.type,
                         graph);
        case Kind::alltoall:
            return begin(form_, o, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init,
                         out, out_count, s.type, in, in_count, r.type, graph);
        case Kind::alltoallv:
            return begin(form_, o, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv,
                         MPI_Neighbor_alltoallv_init, out, s.counts, s.places, s.type, in, r.counts, r.places,
                         r.type, graph);
        default:
            return begin(form_, o, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw,
                         MPI_Neighbor_alltoallw_init, out, s.counts, s.addresses, s.types, in, r.counts,
                         r.addresses, r.types, graph);
        }
    }

    World &world_;
    MPI_Comm parent_;
    std::unique_ptr<Ongoing> ongoing_;
    Kind kind_;
    Form form_;
    int me_;
    Signature unit_;
    // The blocks that each member sends, in the form of edges, if it sends the same block to all its
    // neighbours; and the edges of the graph.
    std::vector<Edge> spoken_, edges_;
    Side sent_, received_;
};

}  // namespace

void talk_to_neighbors(World &world) { Talk(world, world.any_comm()).run(); }

}  // namespace random_calls
