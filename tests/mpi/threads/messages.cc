// Four threads of every rank send, receive, probe and wait at once. In the tests, each thread has its own
// partner, or all threads take messages from a common pool, or the threads of one rank send to each other, or
// one thread completes requests that another thread has begun.
#include <atomic>

#include "crew.h"

namespace {

const size_t lengths[] = {0, 1, 6, 7, 160, 161, 4096, 4097, 20000, 100000};

// Thread t communicates with thread t of the neighbours. The tag tells the threads apart. All forms of send
// and receive are used.
void partners(const Ranks &ranks, int rounds) {
    all_together([&](int thread) {
        for (int round = 0; round < rounds; ++round)
            for (size_t count : lengths) {
                if (count > 20000 && round % 4) continue;
                int seed = ranks.rank * 100 + thread, other = ranks.from * 100 + thread;
                std::vector<int> out = numbers(count, seed + round), in(count), in_again(count);
                MPI_Request requests[4];
                MPI_Irecv(in.data(), count_of(in), MPI_INT, ranks.from, thread, MPI_COMM_WORLD, &requests[0]);
                MPI_Irecv(in_again.data(), count_of(in), MPI_INT, ranks.from, thread + 10, MPI_COMM_WORLD,
                          &requests[1]);
                MPI_Isend(out.data(), count_of(out), MPI_INT, ranks.to, thread, MPI_COMM_WORLD, &requests[2]);
                MPI_Issend(out.data(), count_of(out), MPI_INT, ranks.to, thread + 10, MPI_COMM_WORLD,
                           &requests[3]);
                int index = -1, flag = 0;
                if (round % 3 == 0) MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
                while (round % 3 == 1 && !flag) MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE);
                MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
                check(in == numbers(count, other + round) && in_again == in,
                      "a thread got another thread's message, or a part of one");
                MPI_Sendrecv(out.data(), count_of(out), MPI_INT, ranks.to, thread + 20, in.data(),
                             count_of(in), MPI_INT, ranks.from, thread + 20, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
                check(in == numbers(count, other + round),
                      "MPI_Sendrecv of several threads mixed their messages");
            }
    });
}

// All threads take messages from one pool. The thread whose matched probe finds a message must receive the
// whole message, and each message must be taken once.
void common_pool(const Ranks &ranks, int each) {
    std::vector<std::atomic<int>> taken(static_cast<size_t>(each * threads));
    MPI_Comm pool;
    MPI_Comm_dup(MPI_COMM_WORLD, &pool);
    all_together([&](int thread) {
        std::vector<MPI_Request> sends(static_cast<size_t>(each));
        std::vector<std::vector<int>> out;
        for (int i = 0; i < each; ++i) {
            int number = thread * each + i;
            out.push_back(numbers(1 + lengths[static_cast<size_t>(i) % 9], number));
            MPI_Isend(out.back().data(), count_of(out.back()), MPI_INT, ranks.to, number, pool,
                      &sends[static_cast<size_t>(i)]);
        }
        for (int i = 0; i < each; ++i) {
            MPI_Message message = MPI_MESSAGE_NULL;
            MPI_Status status;
            int flag = 0, count = 0;
            if (thread % 2) MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, pool, &message, &status);
            while (thread % 2 == 0 && !flag)
                MPI_Improbe(ranks.from, MPI_ANY_TAG, pool, &flag, &message, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            std::vector<int> in(static_cast<size_t>(count));
            MPI_Mrecv(in.data(), count, MPI_INT, &message, MPI_STATUS_IGNORE);
            check(in == numbers(in.size(), status.MPI_TAG), "a message of the pool is wrong");
            ++taken[static_cast<size_t>(status.MPI_TAG)];
        }
        MPI_Waitall(each, sends.data(), MPI_STATUSES_IGNORE);
    });
    for (const auto &times : taken) check_equal(times.load(), 1);
    MPI_Comm_free(&pool);
}

// All threads post wildcard receives, which compete for short messages.
void competing_receives(const Ranks &ranks, int each) {
    std::atomic<long> sum{0};
    all_together([&](int thread) {
        for (int i = 0; i < each; ++i) {
            int out = thread * each + i, in = -1;
            MPI_Send(&out, 1, MPI_INT, ranks.to, 50, MPI_COMM_WORLD);
            MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += in;
        }
    });
    long count = static_cast<long>(each) * threads;
    check_equal(sum.load(), count * (count - 1) / 2);
}

// The threads of one rank pass a token around through MPI_COMM_SELF. Each sleeps in a receive until another
// thread sends.
void within_a_rank(int laps) {
    all_together([&](int thread) {
        for (int lap = 0; lap < laps; ++lap) {
            int token = lap * threads;
            if (thread > 0 || lap > 0)
                MPI_Recv(&token, 1, MPI_INT, 0, 60 + thread, MPI_COMM_SELF, MPI_STATUS_IGNORE);
            check_equal(token, lap * threads + thread);
            ++token;
            bool last = lap == laps - 1 && thread == threads - 1;
            if (!last) MPI_Send(&token, 1, MPI_INT, 0, 60 + (thread + 1) % threads, MPI_COMM_SELF);
        }
    });
}

// One thread begins requests, and another thread waits for them. Meanwhile a third thread waits in a receive
// that completes last.
void handed_over(const Ranks &ranks, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        std::vector<int> out = numbers(5000, ranks.rank), in[threads];
        MPI_Request receives[threads], sends[threads];
        for (int i = 0; i < threads; ++i) {
            in[i].resize(5000);
            MPI_Irecv(in[i].data(), 5000, MPI_INT, ranks.from, 70 + i, MPI_COMM_WORLD, &receives[i]);
        }
        std::thread patient(
            [&] { MPI_Recv(nullptr, 0, MPI_INT, ranks.from, 80, MPI_COMM_WORLD, MPI_STATUS_IGNORE); });
        all_together([&](int thread) {
            MPI_Isend(out.data(), 5000, MPI_INT, ranks.to, 70 + thread, MPI_COMM_WORLD, &sends[thread]);
            MPI_Wait(&receives[thread], MPI_STATUS_IGNORE);
            check(in[thread] == numbers(5000, ranks.from), "a request of another thread gave wrong data");
        });
        MPI_Send(nullptr, 0, MPI_INT, ranks.to, 80, MPI_COMM_WORLD);
        MPI_Waitall(threads, sends, MPI_STATUSES_IGNORE);
        patient.join();
    }
}

}  // namespace

int main(int argc, char **argv) {
    begin(argc, argv);
    Ranks ranks;
    partners(ranks, 8);
    common_pool(ranks, 100);
    MPI_Barrier(MPI_COMM_WORLD);
    competing_receives(ranks, 500);
    MPI_Barrier(MPI_COMM_WORLD);
    within_a_rank(200);
    handed_over(ranks, 10);
    MPI_Finalize();
}
