// The program frees datatypes and communicators as soon as a call has started with them, while the message is
// under way. The message must still use them as they were, although other datatypes and communicators are
// created at once and may get their memory. Messages go around the ring, from and to strips, in all
// protocols.
#include <memory>

#include "area.h"

namespace {

int rank, to, from;
MPI_Comm comm;  // the communicator of the current exchange

// Datatypes that are constructed in the same way but have other layouts. If the library frees a datatype too
// early, one of these gets its memory.
class Others {
public:
    Others() {
        for (int i = 0; i < 12; ++i) {
            int lengths[] = {1, i};
            MPI_Aint places[] = {0, 3 << 20};
            MPI_Datatype types[] = {MPI_DATATYPE_NULL, MPI_BYTE}, both;
            MPI_Type_vector(1000 + 100 * i, 24, 56, MPI_BYTE, &types[0]);
            MPI_Type_create_struct(2, lengths, places, types, &both);
            MPI_Type_commit(&both);
            types_.push_back(both);
            types_.push_back(types[0]);
        }
        for (size_t i = 0; i < 200; ++i) memory_.emplace_back(16 + i * 8, '\x5a');
    }
    ~Others() {
        for (MPI_Datatype &type : types_) MPI_Type_free(&type);
    }
    Others(const Others &) = delete;
    Others &operator=(const Others &) = delete;

private:
    std::vector<MPI_Datatype> types_;
    std::vector<std::string> memory_;
};

struct Exchange {
    explicit Exchange(size_t bytes) : out(bytes, true), in(bytes, true) {
        out.fill(seed);
        in.clear();
    }
    void free_all() {
        out.free_type();
        in.free_type();
        if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
        others.push_back(std::make_unique<Others>());
    }
    void finish() {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        in.verify(seed);
        out.verify(seed);
    }
    static constexpr unsigned seed = 9;
    Area out, in;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::vector<std::unique_ptr<Others>> others;
};

void posted(Exchange &one) {
    MPI_Irecv(one.in.data(), 1, one.in.type(), from, 1, comm, &one.requests[0]);
    one.in.free_type();
    Others others;
    tell_and_hear(from, to);
    MPI_Isend(one.out.data(), 1, one.out.type(), to, 1, comm, &one.requests[1]);
    one.free_all();
    one.finish();
}

void unexpected(Exchange &one) {
    MPI_Isend(one.out.data(), 1, one.out.type(), to, 1, comm, &one.requests[1]);
    one.out.free_type();
    Others others;
    tell_and_hear(to, from);
    MPI_Irecv(one.in.data(), 1, one.in.type(), from, 1, comm, &one.requests[0]);
    one.free_all();
    one.finish();
}

void matched(Exchange &one) {
    MPI_Message message;
    MPI_Issend(one.out.data(), 1, one.out.type(), to, 1, comm, &one.requests[1]);
    one.out.free_type();
    Others others;
    MPI_Mprobe(from, 1, comm, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(one.in.data(), 1, one.in.type(), &message, &one.requests[0]);
    one.free_all();
    one.finish();
}

void exchanged(Exchange &one) {
    MPI_Isendrecv(one.out.data(), 1, one.out.type(), to, 1, one.in.data(), 1, one.in.type(), from, 1, comm,
                  &one.requests[0]);
    one.free_all();
    one.finish();
}

// The send request is freed as well. The test knows from the receiver that the message has arrived.
void forgotten(Exchange &one) {
    MPI_Irecv(one.in.data(), 1, one.in.type(), from, 1, comm, &one.requests[0]);
    MPI_Isend(one.out.data(), 1, one.out.type(), to, 1, comm, &one.requests[1]);
    MPI_Request_free(&one.requests[1]);
    one.free_all();
    one.finish();
    tell_and_hear(from, to);
}

void again(Exchange &one) {
    for (int start = 0; start < 3; ++start) {
        one.in.clear();
        MPI_Startall(2, one.requests);
        one.others.push_back(std::make_unique<Others>());
        one.finish();
    }
    for (MPI_Request &request : one.requests) MPI_Request_free(&request);
}

void persistent(Exchange &one) {
    MPI_Recv_init(one.in.data(), 1, one.in.type(), from, 1, comm, &one.requests[0]);
    MPI_Send_init(one.out.data(), 1, one.out.type(), to, 1, comm, &one.requests[1]);
    one.free_all();
    again(one);
}

void persistent_synchronous(Exchange &one) {
    MPI_Recv_init(one.in.data(), 1, one.in.type(), from, 1, comm, &one.requests[0]);
    MPI_Ssend_init(one.out.data(), 1, one.out.type(), to, 1, comm, &one.requests[1]);
    MPI_Start(&one.requests[1]);
    one.free_all();
    tell_and_hear(to, from);
    MPI_Start(&one.requests[0]);
    one.finish();
    again(one);
}

void partitioned(Exchange &one) {
    MPI_Precv_init(one.in.data(), 1, 1, one.in.type(), from, 1, comm, MPI_INFO_NULL, &one.requests[0]);
    MPI_Psend_init(one.out.data(), 1, 1, one.out.type(), to, 1, comm, MPI_INFO_NULL, &one.requests[1]);
    one.free_all();
    for (int start = 0; start < 3; ++start) {
        one.in.clear();
        MPI_Startall(2, one.requests);
        one.others.push_back(std::make_unique<Others>());
        MPI_Pready(0, one.requests[1]);
        one.finish();
    }
    for (MPI_Request &request : one.requests) MPI_Request_free(&request);
}

// Uses a broadcast from rank 0 instead of a message.
void spread(Exchange &one) {
    if (rank == 0) one.in.fill(one.seed);
    MPI_Ibcast(one.in.data(), 1, one.in.type(), 0, comm, &one.requests[0]);
    one.free_all();
    one.finish();
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    int size = size_of(MPI_COMM_WORLD);
    to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (auto *way : {posted, unexpected, matched, exchanged, forgotten, persistent, persistent_synchronous,
                      partitioned, spread})
        for (size_t bytes : {300, 10000, 20000, 100000, 1 << 20}) {
            if (bytes > all_sizes().back()) continue;  // under valgrind
            for (bool own_comm : {false, true}) {
                comm = MPI_COMM_WORLD;
                if (own_comm) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
                Exchange one(bytes);
                way(one);
            }
        }
    MPI_Finalize();
}
