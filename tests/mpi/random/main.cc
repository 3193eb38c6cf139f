// Runs random sequences of MPI calls on real processes: messages, communicators, datatypes, collective
// operations, groups and everything else that world.h lists. The results are compared with a plain
// computation.
//
//     mpi-random [PERCENT [THREADS]]
//
// runs for PERCENT of LANYARD_TEST_SECONDS. Each sequence has a seed of its own, beginning with
// LANYARD_TEST_SEED. If a sequence fails or hangs, the program prints its seed, with which it can be
// repeated. With THREADS, 2 to THREADS threads of each process run sequences at once.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "sim/seeds.h"
#include "world.h"

namespace random_calls {

thread_local Where where;

namespace {

// The longest time for one sequence. Without sanitizers, a sequence takes less than a second.
constexpr int patience_seconds = 300;

struct Action {
    const char *name;
    int weight;
    void (*run)(World &);
};
const Action actions[] = {
    {"communicators", 15, make_communicator},
    {"attributes", 8, change_attribute},
    {"messages", 15, exchange_messages},
    {"moves", 25, move_collectively},
    {"reductions", 25, reduce_collectively},
    {"neighbors", 10, talk_to_neighbors},
    {"completion", 10, finish_one},
    {"groups", 2, compute_groups},
    {"infos", 2, change_infos},
    {"packing", 6, pack_and_unpack},
    {"errors", 5, make_errors},
};

const Action &draw_action(Random &script) {
    int total = 0;
    for (const Action &action : actions) total += action.weight;
    int number = below(script, total);
    for (const Action &action : actions)
        if ((number -= action.weight) < 0) return action;
    return actions[0];
}

constexpr int most_threads = 8;
uint64_t current_seed = 0;  // the seed of all threads

void run_sequence(uint64_t seed, MPI_Comm parent, MPI_Errhandler handler, bool alone) {
    where.name = "beginning";
    World world(seed, parent, handler);
    world.alone = alone;
    int count = between(world.script, 5, alone ? 60 : 25);
    for (where.action = 1; where.action <= count; ++where.action) {
        const Action &action = draw_action(world.script);
        where.name = action.name;
        action.run(world);
    }
    where.name = "end";
}

void run_threads(uint64_t seed, int limit, MPI_Comm *parents, MPI_Errhandler handler) {
    Random random(seed);
    int count = between(random, 2, limit);
    std::vector<std::thread> crew;
    for (int number = 0; number < count; ++number)
        crew.emplace_back([=] {
            where.thread = number;
            run_sequence(seed * most_threads + static_cast<uint64_t>(number), parents[number], handler,
                         false);
        });
    for (std::thread &one : crew) one.join();
}

// Prints which action this thread performs. Also called in a signal handler.
void tell_where() {
    char text[200];
    auto seed = static_cast<unsigned long long>(current_seed);
    int length = std::snprintf(text, sizeof text,
                               "seed %llu, thread %d, action %d (%s): LANYARD_TEST_SEED=%llu repeats it\n",
                               seed, where.thread, where.action, where.name, seed);
    if (write(STDERR_FILENO, text, static_cast<size_t>(length)) < 0) std::abort();
}

void end_with_error(MPI_Comm *, int *code, ...) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(*code, text, &length);
    check(false, text);
}

}  // namespace

}  // namespace random_calls

int main(int argc, char **argv) {
    using namespace random_calls;
    double percent = argc > 1 ? std::strtod(argv[1], nullptr) : 100;
    int threads = argc > 2 ? std::atoi(argv[2]) : 1, provided = 0, go_on = 1;
    check(threads >= 1 && threads <= most_threads, "too many threads");
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    check(threads == 1 || provided == MPI_THREAD_MULTIPLE, "the library does not grant MPI_THREAD_MULTIPLE");
    std::signal(SIGALRM, [](int) {
        tell_where();
        _exit(1);
    });
    on_failure = tell_where;
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(end_with_error, &handler);
    for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm parents[most_threads];
    for (MPI_Comm &parent : parents) MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    double end = MPI_Wtime() + lanyard::sim::test_seconds() * percent / 100;
    for (current_seed = lanyard::sim::first_seed(); go_on; current_seed += static_cast<uint64_t>(go_on)) {
        alarm(patience_seconds);
        if (threads > 1) run_threads(current_seed, threads, parents, handler);
        else run_sequence(current_seed, parents[0], handler, true);
        go_on = MPI_Wtime() < end;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    alarm(0);
    if (rank_in(MPI_COMM_WORLD) == 0)
        std::printf("the last seed was %llu\n", static_cast<unsigned long long>(current_seed));
    for (MPI_Comm &parent : parents) MPI_Comm_free(&parent);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
}
