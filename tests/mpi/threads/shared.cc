// Between 2 and 8 threads of every rank work with the same objects. The number of threads differs between
// rounds. They share one communicator whose messages all threads probe for, one list of requests that they
// complete together, one buffer for buffered sends, and datatypes, groups, attributes and error handlers.
//
//     mpi-threads-shared [ROUNDS]
//
// LANYARD_TEST_SEED is the seed. All threads have the same tasks. Each thread of each rank draws which calls
// it uses for them.
#include <atomic>

#include "net/sim/random.h"
#include "sim/seeds.h"
#include "threads/crew.h"

namespace {

using lanyard::sim::Random;

constexpr int most_threads = 8, message_count = 40;
const size_t lengths[] = {0, 1, 6, 7, 160, 161, 4096, 20000, 70000};

// One round, and the objects that all its threads use.
struct Shared {
    Ranks ranks;
    int threads, round;
    MPI_Comm comm;
    MPI_Datatype pair;  // two numbers with a gap between them
    MPI_Group group;
    MPI_Info info;
    int keys[most_threads];
    std::atomic<int> taken[most_threads * message_count];
    std::vector<MPI_Request> requests;
    std::vector<std::vector<int>> received;
};

size_t length_of(int number) { return lengths[static_cast<size_t>(number) % std::size(lengths)]; }

// Takes a message that any thread may find. Uses one of the calls that find a message and take it in one
// step.
void take_one(Shared &shared, Random &random) {
    bool any_source = random.chance(50), blocking = random.chance(50), later = random.chance(50);
    int source = any_source ? MPI_ANY_SOURCE : shared.ranks.from, flag = 0, count = -1;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status, after;
    if (blocking) MPI_Mprobe(source, MPI_ANY_TAG, shared.comm, &message, &status);
    while (!blocking && !flag) {
        // Another thread may take the message that MPI_Iprobe finds here.
        MPI_Iprobe(source, MPI_ANY_TAG, shared.comm, &flag, MPI_STATUS_IGNORE);
        MPI_Improbe(source, MPI_ANY_TAG, shared.comm, &flag, &message, &status);
    }
    MPI_Get_count(&status, MPI_INT, &count);
    std::vector<int> in(static_cast<size_t>(count));
    MPI_Request request = MPI_REQUEST_NULL;
    if (later) MPI_Imrecv(in.data(), count, MPI_INT, &message, &request);
    else MPI_Mrecv(in.data(), count, MPI_INT, &message, &after);
    if (later) MPI_Wait(&request, &after);
    check(after.MPI_TAG == status.MPI_TAG && after.MPI_SOURCE == shared.ranks.from,
          "a matched message has another envelope than was probed");
    check(in == numbers(length_of(status.MPI_TAG), status.MPI_TAG + shared.round),
          "a message that was probed is wrong");
    ++shared.taken[status.MPI_TAG];
}

void probe_together(Shared &shared, int thread, Random &random) {
    std::vector<std::vector<int>> out;
    std::vector<MPI_Request> sends(message_count, MPI_REQUEST_NULL), flushes;
    int begun = 0, took = 0;
    while (begun < message_count || took < message_count) {
        // A thread takes a message only if it has begun more sends than it has taken messages. All threads of
        // all ranks follow this rule, so there is a message to take.
        if (begun < message_count && (begun == took || random.chance(50))) {
            int tag = thread * message_count + begun;
            out.push_back(numbers(length_of(tag), tag + shared.round));
            const std::vector<int> &data = out.back();
            MPI_Request *request = &sends[static_cast<size_t>(begun++)];
            if (random.chance(30))
                MPI_Bsend(data.data(), count_of(data), MPI_INT, shared.ranks.to, tag, shared.comm);
            else if (random.chance(30))
                MPI_Issend(data.data(), count_of(data), MPI_INT, shared.ranks.to, tag, shared.comm, request);
            else MPI_Isend(data.data(), count_of(data), MPI_INT, shared.ranks.to, tag, shared.comm, request);
            if (random.chance(10)) MPI_Buffer_iflush(&flushes.emplace_back());
        } else {
            take_one(shared, random);
            ++took;
        }
    }
    MPI_Waitall(message_count, sends.data(), MPI_STATUSES_IGNORE);
    MPI_Waitall(static_cast<int>(flushes.size()), flushes.data(), MPI_STATUSES_IGNORE);
}

// Completes receives that another thread has begun, in slices of one array. The sends are persistent. Each is
// started by one thread, and another thread waits for it.
void complete_together(Shared &shared, int thread, Random &random) {
    size_t each = shared.requests.size() / static_cast<size_t>(shared.threads),
           first = static_cast<size_t>(thread) * each;
    MPI_Request *slice = &shared.requests[first];
    int left = static_cast<int>(each), count = left, index = -1, flag = 0, some = 0;
    std::vector<int> out = numbers(3000, thread + shared.round), indices(each);
    std::vector<MPI_Request> sends(each);
    for (size_t i = 0; i < each; ++i)
        MPI_Send_init(out.data(), count_of(out), MPI_INT, shared.ranks.to, 1000 + static_cast<int>(first + i),
                      shared.comm, &sends[i]);
    std::thread starter([&] { MPI_Startall(count, sends.data()); });
    while (left > 0) {
        index = MPI_UNDEFINED, flag = 1, some = 0;
        switch (random.below(5)) {
        case 0: MPI_Waitany(count, slice, &index, MPI_STATUS_IGNORE); break;
        case 1: MPI_Testany(count, slice, &index, &flag, MPI_STATUS_IGNORE); break;
        case 2: MPI_Waitsome(count, slice, &some, indices.data(), MPI_STATUSES_IGNORE); break;
        case 3: MPI_Testsome(count, slice, &some, indices.data(), MPI_STATUSES_IGNORE); break;
        default: MPI_Testall(count, slice, &flag, MPI_STATUSES_IGNORE); some = flag ? left : 0;
        }
        left -= some + (index != MPI_UNDEFINED);
    }
    starter.join();
    MPI_Waitall(count, sends.data(), MPI_STATUSES_IGNORE);
    for (MPI_Request &send : sends) MPI_Request_free(&send);
    for (size_t i = 0; i < each; ++i) {
        check(slice[i] == MPI_REQUEST_NULL, "a request is complete and not null");
        check(shared.received[first + i] == numbers(3000, thread + shared.round),
              "a receive that another thread began is wrong");
    }
}

// Cancels a receive that no message matches, while other threads receive.
void cancel(Shared &shared) {
    MPI_Request request;
    MPI_Status status;
    int nothing, cancelled = 0;
    MPI_Irecv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 30000, shared.comm, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    check(cancelled, "a receive was not cancelled");
}

void use_objects(Shared &shared, int thread) {
    int data[6] = {thread, -1, thread + 1, thread + 2, -1, thread + 3}, copy[6] = {}, size = -1, found = 0;
    MPI_Datatype again, nested;
    MPI_Type_dup(shared.pair, &again);
    MPI_Type_vector(1, 2, 2, shared.pair, &nested);
    MPI_Type_commit(&nested);
    MPI_Sendrecv(data, 1, nested, 0, thread, copy, 2, again, 0, thread, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    for (int i : {0, 2, 3, 5}) check_equal(copy[i], data[i]);
    MPI_Type_free(&again);
    MPI_Type_free(&nested);

    MPI_Group all, joined;
    MPI_Comm_group(shared.comm, &all);
    MPI_Group_union(shared.group, all, &joined);
    MPI_Group_size(joined, &size);
    check_equal(size, shared.ranks.size);
    MPI_Group_free(&joined);
    MPI_Group_free(&all);

    MPI_Info copied;
    char value[32];
    int room = sizeof value;
    MPI_Info_dup(shared.info, &copied);
    MPI_Info_set(copied, "own", std::to_string(thread).c_str());
    MPI_Info_get_string(copied, "common", &room, value, &found);
    check(found && std::string(value) == "to all", "an info of all is wrong");
    MPI_Info_free(&copied);

    void *kept = nullptr;
    MPI_Comm_set_attr(shared.comm, shared.keys[thread], data);
    MPI_Comm_get_attr(shared.comm, shared.keys[thread], &kept, &found);
    check(found && kept == data, "an attribute beside those of other threads is wrong");
    MPI_Comm_delete_attr(shared.comm, shared.keys[thread]);
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(shared.comm, &handler);
    MPI_Comm_set_errhandler(shared.comm, handler);
    MPI_Errhandler_free(&handler);
}

// Several threads create communicators from one parent at once. Tags tell their calls apart. One communicator
// has a topology, and its collectives are called.
void make_communicators(Shared &shared, int thread) {
    MPI_Comm own, ring, copy;
    MPI_Request requests[2];
    int size = shared.ranks.size, round = 1, mine = shared.ranks.rank + thread, sides[2] = {-1, -1}, sum = 0;
    MPI_Comm_create_group(shared.comm, shared.group, thread, &own);
    MPI_Cart_create(own, 1, &size, &round, 0, &ring);
    MPI_Ineighbor_allgather(&mine, 1, MPI_INT, sides, 1, MPI_INT, ring, &requests[0]);
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, own, &requests[1]);
    MPI_Comm_dup(ring, &copy);
    MPI_Comm_free(&own);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_equal(sum, size * (size - 1) / 2 + size * thread);
    check(sides[0] == shared.ranks.from + thread && sides[1] == shared.ranks.to + thread,
          "neighbours of several threads are mixed");
    use(copy);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&copy);
}

void prepare(Shared &shared) {
    int places[] = {0, 2}, ones[] = {1, 1};
    MPI_Type_indexed(2, ones, places, MPI_INT, &shared.pair);
    MPI_Type_commit(&shared.pair);
    MPI_Comm_group(shared.comm, &shared.group);
    MPI_Info_create(&shared.info);
    MPI_Info_set(shared.info, "common", "to all");
    for (int &key : shared.keys)
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    for (auto &times : shared.taken) times = 0;
    shared.requests.resize(static_cast<size_t>(shared.threads) * 5);
    shared.received.assign(shared.requests.size(), std::vector<int>(3000));
}

void clear(Shared &shared) {
    for (int &key : shared.keys) MPI_Comm_free_keyval(&key);
    MPI_Info_free(&shared.info);
    MPI_Group_free(&shared.group);
    MPI_Type_free(&shared.pair);
}

void play(Shared &shared, uint64_t seed) {
    prepare(shared);
    all_together([&](int thread) {
        Random own(seed + static_cast<uint64_t>(thread) * 977);
        probe_together(shared, thread, own);
    }, shared.threads);
    for (int i = 0; i < shared.threads * message_count; ++i) check_equal(shared.taken[i].load(), 1);
    // after this barrier, no thread of another rank probes, so none can find the messages that follow
    MPI_Barrier(shared.comm);
    for (size_t i = 0; i < shared.requests.size(); ++i)
        MPI_Irecv(shared.received[i].data(), 3000, MPI_INT, shared.ranks.from, 1000 + static_cast<int>(i),
                  shared.comm, &shared.requests[i]);
    all_together([&](int thread) {
        Random own(static_cast<uint64_t>(shared.round) * 1009 + static_cast<uint64_t>(thread) * 977 + 1);
        complete_together(shared, thread, own);
        for (int i = 0; i < 5; ++i) {
            cancel(shared);
            use_objects(shared, thread);
            make_communicators(shared, thread);
        }
    }, shared.threads);
    clear(shared);
}

}  // namespace

int main(int argc, char **argv) {
    begin(argc, argv);
    int rounds = argc > 1 ? std::atoi(argv[1]) : 6;
    Random script(lanyard::sim::first_seed());
    std::vector<char> room(64 << 20);
    MPI_Buffer_attach(room.data(), static_cast<int>(room.size()));
    Shared shared;
    MPI_Comm_dup(MPI_COMM_WORLD, &shared.comm);
    for (shared.round = 0; shared.round < rounds; ++shared.round) {
        shared.threads = static_cast<int>(script.between(2, most_threads));
        play(shared, script.next() + static_cast<uint64_t>(shared.ranks.rank));
    }
    void *address;
    int bytes;
    MPI_Buffer_detach(&address, &bytes);
    MPI_Comm_free(&shared.comm);
    MPI_Finalize();
}
