// Tests neighbourhood collectives in all forms: on grids with dimensions of size 1 and 2, on graphs that
// every rank knows, and on random graphs where each rank knows only its own edges (some named several times,
// some to the rank itself). All five collectives are under way at once on one communicator, with blocks of
// unequal sizes, gaps and a permuted order. The collectives are repeated with changed data, and each rank
// starts the persistent ones in a different order. A plain search computes what must arrive where. Everything
// else must stay untouched.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include "topology/check.h"
#include "topology/forms.h"

namespace {

constexpr int unwritten = -77, collectives = 5;
using List = std::vector<int>;

// The neighbours of this rank. Block i arrives from rank sources[i]. That rank sends it as its block
// partner[i].
struct Network {
    MPI_Comm comm = MPI_COMM_NULL;
    List sources, destinations, partner;
    std::string name;
    bool long_blocks = false;  // also test long blocks
};

// Element i of the block j that rank `from` sends in one turn.
int value(int turn, int from, int j, int i) { return turn * 100003 + from * 1009 + j * 101 + i % 97; }

template <class Form>
class Exchange {
    using Count = typename Form::Count;

public:
    Exchange(const Network &network, int length)
        : net_(network), rank_(rank_in(network.comm)), length_(length) {
        for (size_t j = 0; j < net_.destinations.size(); ++j)
            send_counts_.push_back(count(rank_, static_cast<int>(j)));
        for (size_t i = 0; i < net_.sources.size(); ++i) {
            bool nobody = net_.sources[i] == MPI_PROC_NULL;
            receive_counts_.push_back(nobody ? length + 1 : count(net_.sources[i], net_.partner[i]));
            gather_counts_.push_back(nobody ? length + 1 : count(net_.sources[i], 0));
        }
        lay_out(send_counts_.size(), send_places_, send_bytes_, 4);
        lay_out(receive_counts_.size(), receive_places_, receive_bytes_, 8);
        MPI_Type_create_resized(MPI_INT, 0, 8, &every_other_);
        MPI_Type_commit(&every_other_);
        plain_types_.assign(send_counts_.size(), MPI_INT);
        spread_types_.assign(receive_counts_.size(), every_other_);
        std::fill(std::begin(requests_), std::end(requests_), MPI_REQUEST_NULL);
        for (int k = 0; k < collectives; ++k) {
            // Without neighbours the buffers are empty, and an empty vector may return a null pointer.
            in_[k].resize(std::max(net_.destinations.size(), size_t{k < 2}) * block());
            out_[k].resize(net_.sources.size() * block() * 2);
        }
    }
    ~Exchange() {
        if (every_other_ != MPI_DATATYPE_NULL) MPI_Type_free(&every_other_);
    }
    Exchange(const Exchange &) = delete;
    Exchange &operator=(const Exchange &) = delete;

    void run(int turns) {
        constexpr bool persistent = Form::kind == CallKind::persistent;
        if (persistent) call_all();
        for (int turn = 0; turn < turns; ++turn) {
            fill(turn);
            if (!persistent) call_all();
            else start(turn);
            // The operations must keep everything that they need of a datatype that the program frees.
            if (turn + 1 == turns) MPI_Type_free(&every_other_);
            if (Form::kind != CallKind::blocking) MPI_Waitall(collectives, requests_, MPI_STATUSES_IGNORE);
            verify(turn);
        }
        for (MPI_Request &request : requests_) {
            if (persistent) MPI_Request_free(&request);
            check(request == MPI_REQUEST_NULL, "a request is left");
        }
    }

private:
    int count(int from, int j) const { return length_ + (from + 2 * j) % 3; }
    size_t block() const { return static_cast<size_t>(length_) + 4; }
    // Arranges blocks in reverse order, with gaps between them.
    void lay_out(size_t blocks, std::vector<typename Form::Place> &places, std::vector<MPI_Aint> &bytes,
                 int stride) const {
        for (size_t i = 0; i < blocks; ++i) {
            auto place = (blocks - 1 - i) * block();
            places.push_back(static_cast<typename Form::Place>(place));
            bytes.push_back(static_cast<MPI_Aint>(place) * stride);
        }
    }

    template <class Function, class... Arguments>
    void call(int k, Function function, Arguments... arguments) {
        int code;
        if constexpr (Form::kind == CallKind::blocking) code = function(arguments..., net_.comm);
        else if constexpr (Form::kind == CallKind::nonblocking)
            code = function(arguments..., net_.comm, &requests_[k]);
        else code = function(arguments..., net_.comm, MPI_INFO_NULL, &requests_[k]);
        check_equal(code, MPI_SUCCESS);
    }
    void call_all() {
        call(0, Form::allgather, in(0), length_, MPI_INT, out(0), length_, MPI_INT);
        call(1, Form::allgatherv, in(1), count(rank_, 0), MPI_INT, out(1), gather_counts_.data(),
             receive_places_.data(), MPI_INT);
        call(2, Form::alltoall, in(2), length_, MPI_INT, out(2), length_, MPI_INT);
        call(3, Form::alltoallv, in(3), send_counts_.data(), send_places_.data(), MPI_INT, out(3),
             receive_counts_.data(), receive_places_.data(), MPI_INT);
        call(4, Form::alltoallw, in(4), send_counts_.data(), send_bytes_.data(), plain_types_.data(), out(4),
             receive_counts_.data(), receive_bytes_.data(), spread_types_.data());
    }
    void start(int turn) {
        if (turn % 4 == 0) {
            MPI_Startall(collectives, requests_);
            return;
        }
        int order[collectives] = {0, 1, 2, 3, 4};
        std::shuffle(std::begin(order), std::end(order),
                     std::mt19937(static_cast<unsigned>(turn * 64 + rank_)));
        for (int k : order) MPI_Start(&requests_[k]);
    }

    int *in(int k) { return in_[k].data(); }
    int *out(int k) { return out_[k].data(); }

    void fill(int turn) {
        for (int k = 0; k < collectives; ++k) {
            std::fill(in_[k].begin(), in_[k].end(), unwritten);
            std::fill(out_[k].begin(), out_[k].end(), unwritten);
            int blocks = k < 2 ? 1 : static_cast<int>(net_.destinations.size());
            for (int j = 0; j < blocks; ++j) {
                auto at = k < 2    ? 0
                          : k == 2 ? j * length_
                                   : static_cast<int>(send_places_[static_cast<size_t>(j)]);
                int elements = k == 0 || k == 2 ? length_ : count(rank_, j);
                for (int i = 0; i < elements; ++i) in(k)[at + i] = value(turn, rank_, j, i);
            }
        }
    }

    void expect(int k, size_t at, int elements, int turn, int from, int j, int stride = 1) {
        for (int i = 0; i < elements; ++i) {
            int &is = out_[k][at + static_cast<size_t>(i * stride)];
            if (is != value(turn, from, j, i)) wrong(k, from, j, i, is);
            is = unwritten;
        }
    }
    void wrong(int k, int from, int j, int i, int is) {
        check(false, net_.name + ", " + Form::name + ", collective " + std::to_string(k) + ", " +
                         std::to_string(length_) + " elements: block " + std::to_string(j) + " of rank " +
                         std::to_string(from) + ", element " + std::to_string(i) + " is " +
                         std::to_string(is));
    }
    void verify(int turn) {
        for (size_t i = 0; i < net_.sources.size(); ++i) {
            int from = net_.sources[i], j = net_.partner[i];
            if (from == MPI_PROC_NULL) continue;
            auto place = static_cast<size_t>(receive_places_[i]), even = i * static_cast<size_t>(length_);
            expect(0, even, length_, turn, from, 0);
            expect(1, place, count(from, 0), turn, from, 0);
            expect(2, even, length_, turn, from, j);
            expect(3, place, count(from, j), turn, from, j);
            expect(4, place * 2, count(from, j), turn, from, j, 2);
        }
        for (int k = 0; k < collectives; ++k)
            for (int is : out_[k])
                if (is != unwritten) wrong(k, -1, -1, -1, is);
    }

    const Network &net_;
    int rank_, length_;
    std::vector<Count> send_counts_, receive_counts_, gather_counts_;
    std::vector<typename Form::Place> send_places_, receive_places_;
    std::vector<MPI_Aint> send_bytes_, receive_bytes_;
    std::vector<MPI_Datatype> plain_types_, spread_types_;
    MPI_Datatype every_other_ = MPI_DATATYPE_NULL;
    std::vector<int> in_[collectives], out_[collectives];
    MPI_Request requests_[collectives];
};

template <class Form>
void run(const Network &network) {
    for (int length : {0, 1, 9, 700}) Exchange<Form>(network, length).run(5);
    if (network.long_blocks) Exchange<Form>(network, 20000).run(2);
}

void run_all(Network &network) {
    run<Blocking>(network);
    run<BlockingLarge>(network);
    run<Nonblocking>(network);
    run<NonblockingLarge>(network);
    run<Persistent>(network);
    run<PersistentLarge>(network);
    MPI_Comm_free(&network.comm);
}

// In each dimension, a rank has a neighbour before it and a neighbour after it. The block that arrives from
// the neighbour before is the block that this neighbour sends to its neighbour after, and vice versa.
void grid(const List &dims, const List &periods) {
    Network network;
    int ndims = static_cast<int>(dims.size());
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims.data(), periods.data(), 1, &network.comm);
    if (network.comm == MPI_COMM_NULL) return;
    network.name = "grid";
    for (int d = 0; d < ndims; ++d) {
        int before, after;
        MPI_Cart_shift(network.comm, d, 1, &before, &after);
        network.sources.insert(network.sources.end(), {before, after});
        network.partner.insert(network.partner.end(), {2 * d + 1, 2 * d});
        network.name +=
            " " + std::to_string(dims[static_cast<size_t>(d)]) + (periods[static_cast<size_t>(d)] ? "p" : "");
    }
    network.destinations = network.sources;
    run_all(network);
}

void grids(int size) {
    grid({}, {});
    for (int periodic : {0, 1}) {
        grid({size}, {periodic});
        grid({1, size}, {periodic, 1});
        if (size >= 2) grid({2, size / 2}, {1, periodic});
        if (size >= 4) grid({2, 1, 2}, {periodic, 0, 1});
    }
}

// Finds each block's index at its sender. If rank a names rank b as a source several times, and b names a as
// a destination as often, then the k-th entries of the two lists belong together.
List partners(int rank, const std::vector<List> &sources, const std::vector<List> &destinations) {
    List partner;
    const List &own = sources[static_cast<size_t>(rank)];
    for (size_t i = 0; i < own.size(); ++i) {
        auto k = std::count(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(i), own[i]);
        const List &there = destinations[static_cast<size_t>(own[i])];
        int at = -1;
        for (size_t j = 0; j < there.size() && at < 0; ++j)
            if (there[j] == rank && k-- == 0) at = static_cast<int>(j);
        partner.push_back(at);
    }
    return partner;
}

// Tests random graphs, which all ranks draw alike.
void distributed(int size, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<List> sources(static_cast<size_t>(size)), destinations(static_cast<size_t>(size));
    for (unsigned edges = random() % 15; edges > 0; --edges) {
        unsigned from = random() % static_cast<unsigned>(size), to = random() % static_cast<unsigned>(size);
        for (unsigned times = random() % 3 ? 1 : 3; times > 0; --times) {
            destinations[from].push_back(static_cast<int>(to));
            sources[to].push_back(static_cast<int>(from));
        }
    }
    for (auto *lists : {&sources, &destinations})
        for (List &list : *lists) std::shuffle(list.begin(), list.end(), random);
    Network network;
    auto own = static_cast<size_t>(rank_in(MPI_COMM_WORLD));
    network.sources = sources[own];
    network.destinations = destinations[own];
    network.partner = partners(static_cast<int>(own), sources, destinations);
    network.name = "random graph " + std::to_string(seed);
    network.long_blocks = seed == 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources[own].size()), sources[own].data(),
                                   MPI_UNWEIGHTED, static_cast<int>(destinations[own].size()),
                                   destinations[own].data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &network.comm);
    run_all(network);
}

// Tests a ring in which each rank names its right and its left neighbour twice and itself once.
void graph(int size) {
    List index, edges;
    std::vector<List> lists;
    for (int rank = 0; rank < size; ++rank) {
        int right = (rank + 1) % size, left = (rank + size - 1) % size;
        lists.push_back({right, left, rank, left, right});
        edges.insert(edges.end(), lists.back().begin(), lists.back().end());
        index.push_back(static_cast<int>(edges.size()));
    }
    Network network;
    MPI_Graph_create(MPI_COMM_WORLD, size, index.data(), edges.data(), 0, &network.comm);
    int own = rank_in(network.comm);
    network.sources = network.destinations = lists[static_cast<size_t>(own)];
    network.partner = partners(own, lists, lists);
    network.name = "ring";
    run_all(network);
}

// A duplicate must have the topology of its original, and its messages must be separate.
void duplicates() {
    MPI_Comm comm, copy;
    MPI_Request request, requests[2];
    int dim = size_of(MPI_COMM_WORLD), period = 1, told[2] = {rank_in(MPI_COMM_WORLD), 100}, heard[2][2];
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dim, &period, 0, &comm);
    MPI_Comm_idup(comm, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ineighbor_allgather(&told[0], 1, MPI_INT, heard[0], 1, MPI_INT, comm, &requests[0]);
    MPI_Ineighbor_allgather(&told[1], 1, MPI_INT, heard[1], 1, MPI_INT, copy, &requests[1]);
    MPI_Comm_free(&comm);  // the communicator ends when the operation is complete
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_equal(heard[0][0], (told[0] + dim - 1) % dim);
    check_equal(heard[0][1], (told[0] + 1) % dim);
    check_equal(heard[1][0], 100);
    check_equal(heard[1][1], 100);
    MPI_Comm_free(&copy);
}

void errors(int size) {
    int data[64] = {}, counts[64] = {}, places[64] = {};
    MPI_Aint bytes[64] = {};
    MPI_Datatype types[64];
    std::fill(std::begin(types), std::end(types), MPI_DATATYPE_NULL);
    MPI_Comm none, line;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &none);
    MPI_Comm_set_errhandler(none, MPI_ERRORS_RETURN);
    check_error(MPI_Neighbor_allgather(data, 1, MPI_INT, data + 8, 1, MPI_INT, none), MPI_ERR_TOPOLOGY,
                "no topology");
    check_class(
        MPI_Neighbor_alltoallv(data, counts, places, MPI_INT, data + 8, counts, places, MPI_INT, none),
        MPI_ERR_TOPOLOGY);
    check_class(MPI_Ineighbor_alltoall(data, 1, MPI_INT, data + 8, 1, MPI_INT, none, &request),
                MPI_ERR_TOPOLOGY);
    check_class(MPI_Neighbor_allgatherv_init(data, 1, MPI_INT, data + 8, counts, places, MPI_INT, none,
                                             MPI_INFO_NULL, &request),
                MPI_ERR_TOPOLOGY);

    int period = 1;
    MPI_Cart_create(none, 1, &size, &period, 0, &line);
    check_class(MPI_Neighbor_allgather(data, -1, MPI_INT, data + 8, 1, MPI_INT, line), MPI_ERR_COUNT);
    check_class(MPI_Neighbor_allgather(nullptr, 1, MPI_INT, data + 8, 1, MPI_INT, line), MPI_ERR_BUFFER);
    check_class(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, data + 8, 1, MPI_INT, line), MPI_ERR_BUFFER);
    check_class(MPI_Neighbor_alltoall(data, 1, MPI_DATATYPE_NULL, data + 8, 1, MPI_INT, line), MPI_ERR_TYPE);
    std::fill(std::begin(counts), std::end(counts), 1);
    check_class(MPI_Neighbor_alltoallw(data, counts, bytes, types, data + 8, counts, bytes, types, line),
                MPI_ERR_TYPE);
    MPI_Comm_free(&line);

    // A graph in which an edge has only one direction.
    if (size > 1) {
        List index(static_cast<size_t>(size), 1);
        int edge = 1;
        MPI_Comm star;
        MPI_Graph_create(none, size, index.data(), &edge, 0, &star);
        check_error(MPI_Neighbor_allgather(data, 1, MPI_INT, data + 8, 1, MPI_INT, star), MPI_ERR_TOPOLOGY,
                    "not symmetric");
        MPI_Comm_free(&star);
    }
    use(none);
    MPI_Comm_free(&none);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int size = size_of(MPI_COMM_WORLD);
    grids(size);
    for (unsigned seed = 1; seed <= 4; ++seed) distributed(size, seed);
    graph(size);
    duplicates();
    errors(size);
    MPI_Finalize();
}
