// Finds out how this process was started: from environment variables, from the connection that it inherited,
// and from the processes above it. With this, bootstrap.cc decides how the process joins its job. mpirun
// gives the connections their names.
//
// mpirun's end of a rank's connection has a name among the kernel's abstract socket names that identifies the
// rank:
//     lanyard-pmi-JOB-RANK-SIZE-SEGMENT
// The process with the other end can read this name. So the process finds the connection among all its
// descriptors even if the variables are lost, and does not take another socket with the expected number for
// the connection.
//
// The process that joins the job as a rank listens, until it ends, at the name
//     lanyard-rank-JOB-RANK
// Under other launchers, whose jobs have no name that children know, the name is
//     lanyard-rank-process@NAMESPACE-PID
// where NAMESPACE identifies the namespace to which the process id belongs. (Socket names may be shared by
// several such namespaces.) So no second process joins as the same rank. A process that the rank has started
// can find out that it is not the rank, because the rank exists already. Connections to this name are never
// accepted: connecting alone shows which process holds the name. After most_questions connections, connecting
// only shows that some process holds it.
// Tested by: tests/launch/test_origin.py, tests/unit/bootstrap/origin_test.cc.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>

namespace lanyard {

// A rank's seat: its place in a job of mpirun.
struct Seat {
    std::string job;
    int rank = -1;
    int size = -1;
    int segment_fd = -1;  // the segment's descriptor in the rank; -1 if there is none or it is unknown
};

// Gives mpirun's end of a rank's connection its name. False if the system refuses.
bool name_connection(int descriptor, const Seat &seat);
// Reads the seat from the name of the connection's other end, if the other end has such a name. `descriptor`
// may be anything, even a number that is not open.
std::optional<Seat> seat_of_connection(int descriptor);
// Searches all descriptors of this process for a connection with such a name, and stores its number in
// `descriptor`. If there are several, chooses the connection with the highest number, which belongs to the
// innermost job. If there is none, `descriptor` is left unchanged.
std::optional<Seat> find_connection(int &descriptor);

// The process id of the living process that has joined as this rank; 0 if there is none, or if the system
// gives no socket to find out. -1 if there is one but its id is not known: the process is in another
// namespace, or has been asked too often (most_questions).
pid_t holder_of(const Seat &seat);
// Makes this process the holder of the seat until the process ends. Returns 0, or what holder_of() returns if
// another process holds the seat. Also returns 0 if the system refuses the claim; then no process is the
// holder.
pid_t claim(const Seat &seat);

// Like claim(), for a process that has joined by the connection of another launcher.
void claim_process();
// True if an ancestor of this process has called claim_process(). The search ends at a process whose name is
// one of `starters`, the names of processes that start ranks.
bool below_such_process(std::span<const char *const> starters);

// The value of an environment variable, as getenv returns it. If the program has cleared its environment, the
// value with which the program was started.
const char *started_with(const char *name);

// The seat that the environment variables of this process describe, if they do.
std::optional<Seat> seat_told();

struct Ancestry {
    bool under_mpirun = false;  // this library's mpirun is an ancestor of this process
    // The seat of a rank above this process, if its variables can be read. Only if under_mpirun is true.
    std::optional<Seat> seat;
    std::string parent;         // the name of the process that started this process
};
Ancestry read_ancestry();

}  // namespace lanyard
