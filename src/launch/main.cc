// mpirun, also called mpiexec: starts the ranks of an MPI program, on this machine or on several hosts. See
// option_table.h for what it does, job.cc for how it runs a job, and guard.h for why no process of the job is
// left at the end.
// Tested by: tests/launch/test_options.py.
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/no_memory.h"
#include "bootstrap/origin.h"
#include "launch/agent.h"
#include "launch/job.h"
#include "launch/options.h"

namespace {

// If mpirun is started with closed standard descriptors, opens /dev/null in their place, so that no socket of
// mpirun gets one of their numbers.
void fill_standard_descriptors() {
    int fd;
    do fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    if (fd > 2) close(fd);
}

// If a rank of another job has started this mpirun, keeps that rank's connection from the ranks of this job,
// which must not find it.
void keep_outer_connection() {
    int descriptor;
    if (lanyard::find_connection(descriptor)) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

bool print(const std::string &text) { return fputs(text.c_str(), stdout) >= 0 && fflush(stdout) == 0; }

}  // namespace

int main(int count, char **words) {
    using namespace lanyard::launch;
    fill_standard_descriptors();
    lanyard::end_where_new_fails("mpirun", 1);
    keep_outer_connection();
    char *last = words[count - 1];
    auto name_length = static_cast<size_t>(last + strlen(last) + 1 - words[0]);
    if (count == 2 && std::string(words[1]) == "--agent") return run_agent(environ, words[0], name_length);
    Parsed parsed = parse_options(std::vector<std::string>(words + 1, words + count));
    switch (parsed.request) {
        case Request::help: return print(help_text()) ? 0 : 1;
        case Request::version: return print("mpirun (Lanyard) " LANYARD_VERSION "\n") ? 0 : 1;
        case Request::manual: return print(manual_page()) ? 0 : 1;
        case Request::refused: fprintf(stderr, "mpirun: %s\n", parsed.trouble.c_str()); return exit_usage;
        case Request::run: break;
    }
    return run_job(parsed.plan, environ, words[0], name_length);
}
