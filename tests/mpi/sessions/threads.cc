// Calls MPI_Session_init and MPI_Session_finalize in several threads at once. Each thread has its own
// sessions and sends messages in them.
#include <atomic>
#include <thread>
#include <vector>

#include "session.h"

namespace {

constexpr int threads = 4, rounds = 15;

MPI_Session begin_multiple() {
    MPI_Info info;
    MPI_Session session;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    check_equal(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    MPI_Info_free(&info);
    return session;
}

void work(int thread, std::atomic<int> &done) {
    std::string tag = "thread " + std::to_string(thread);
    for (int round = 0; round < rounds; ++round) {
        MPI_Session session = begin_multiple();
        MPI_Comm world = comm_of(session, "mpi://WORLD", tag.c_str()),
                 self = comm_of(session, "mpi://SELF", tag.c_str());
        use(world);
        use(self);
        MPI_Comm_free(&self);
        MPI_Comm_free(&world);
        end(session);
    }
    ++done;
}

}  // namespace

int main() {
    std::atomic<int> done{0};
    std::vector<std::thread> crew;
    for (int thread = 0; thread < threads; ++thread) crew.emplace_back(work, thread, std::ref(done));
    for (std::thread &each : crew) each.join();
    check_equal(done.load(), threads);
    return 0;
}
