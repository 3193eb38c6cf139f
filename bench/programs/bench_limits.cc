// bench-limits measures what this machine can achieve without MPI: a bounced cache line, copies, messages
// through shared memory, TCP and UDP. A figure of MPI should be compared with these figures, taken in the
// same minute on the same machine. Started by `lanyard bench limits`, never through mpirun. It uses two
// processes; see limits.h.
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include <csignal>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/programs/limits.h"
#include "bench/programs/pin.h"
#include "bench/programs/raw_socket.h"
#include "bench/programs/settings.h"

namespace lanyard::bench {

namespace {

constexpr unsigned give_up_after_seconds = 120;

// Called from a signal handler, so it uses only async-signal-safe functions.
void say_and_leave(const char* sentence) {
    if (write(STDERR_FILENO, sentence, std::strlen(sentence)) < 0) _exit(3);
    _exit(1);
}
void on_child_death(int) {
    say_and_leave("bench-limits: its second process died; nothing more can be measured\n");
}
void on_alarm(int) {
    say_and_leave("bench-limits: no answer for two minutes; a firewall may drop what it sends\n");
}

int complain(const std::exception& problem) {
    std::fprintf(stderr, "bench-limits: %s\n", problem.what());
    return 1;
}

// Runs the second process. Does not return to main, because main would destroy objects of the first process a
// second time.
[[noreturn]] void be_second(Shared& shared, const Endpoints& endpoints, pid_t first) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != first) _exit(1);
    signal(SIGCHLD, SIG_DFL);
    pin_to_processor(1);
    try {
        answer_memory(shared);
        answer_slots(shared, first);
        while (shared.step.load(std::memory_order_acquire) < Step::network) {}
        answer_network(endpoints);
    } catch (const std::exception& problem) {
        _exit(complain(problem));
    }
    _exit(0);
}

void measure(Shared& shared, const Endpoints& endpoints, const LimitsOptions& options) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    signal(SIGCHLD, on_child_death);
    signal(SIGALRM, on_alarm);
    alarm(give_up_after_seconds);
    pid_t first = getpid();
    pid_t second = fork();
    if (second < 0) throw_errno("fork");
    if (second == 0) be_second(shared, endpoints, first);
    pin_to_processor(0);
    while (shared.step.load(std::memory_order_acquire) < Step::memory) {}
    Report report("limits", "", host, 1, {"what this machine allows", "", true}, options.json, true);
    bool reads = measure_memory(shared, second, report);
    measure_slots(shared, second, options.all_copies, reads, report);
    shared.step.store(Step::network, std::memory_order_release);
    // From now on, the second process may end. If it ends too early, the first process sees this at its
    // sockets.
    signal(SIGCHLD, SIG_DFL);
    alarm(give_up_after_seconds);
    measure_network(endpoints, report);
    report.finish();
    waitpid(second, nullptr, 0);
}

int run(int argc, char** argv) {
    LimitsOptions options;
    Parsed parsed = parse_limits_command_line(argc, argv, options);
    if (!parsed.run) {
        std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
        return parsed.exit_code;
    }
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) < 2) {
        std::fputs("bench-limits: needs two processors, this process may use one; "
                   "a line bounced on one says nothing\n",
                   stderr);
        return 1;
    }
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // some systems (Yama) otherwise forbid process_vm_readv
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw_errno("mmap of shared memory");
    measure(*new (memory) Shared, bind_endpoints(options.address.c_str()), options);
    return 0;
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    try {
        return lanyard::bench::run(argc, argv);
    } catch (const std::exception& problem) {
        return lanyard::bench::complain(problem);
    }
}
