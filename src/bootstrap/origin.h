// What a process can find out about how it was started: from variables, from the connection that it
// inherited, and from the processes above it. bootstrap.cc decides by this; mpirun names the connections.
//
// mpirun's end of a rank's connection has a name in the kernel's abstract space that identifies the rank,
//     lanyard-pmi-JOB-RANK-SIZE-SEGMENT
// and the process that holds the other end can read it. So the connection is found among all descriptors even
// if the variables are lost, and no other socket with the same number is mistaken for it. The process that
// joins the job as a rank listens until it ends, at
//     lanyard-rank-JOB-RANK
// (under other launchers, whose jobs have no name that children know, at lanyard-rank-process-PID). So no
// second process joins as the same rank, and processes that the rank starts can find out that they are not
// the rank, because it exists already. Connections made there are never accepted: connecting alone shows
// which process holds the name.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>

namespace lanyard {

// A rank's place in a job of mpirun.
struct Seat {
    std::string job;
    int rank = -1;
    int size = -1;
    int segment_fd = -1;  // as the rank has it; -1: none, or unknown
};

// Called by mpirun for its own end; false if the system refuses.
bool name_connection(int descriptor, const Seat &seat);
// Reads the name of the other end. `descriptor` need not be a socket, or open.
std::optional<Seat> seat_of_connection(int descriptor);
// Searches all descriptors of this process for such a connection. If there are several, it returns the one
// with the highest number, which belongs to the innermost job.
std::optional<Seat> find_connection(int &descriptor);

// The living process that has joined as this rank: 0 if there is none, -1 if its number is not known here.
pid_t holder_of(const Seat &seat);
// Makes this process the holder of the seat until it ends, and returns 0. Otherwise returns the number of the
// holder.
pid_t claim(const Seat &seat);

// The same for a process that has joined by the connection of another launcher.
void claim_process();
// True if an ancestor of this process has called claim_process(). The search ends at a process that starts
// ranks, which it recognises by its name.
bool below_such_process(std::span<const char *const> starters);

// Like getenv, but if the program has cleared its environment, the value with which it was started.
const char *started_with(const char *name);

// The seat that the variables of this process describe.
std::optional<Seat> seat_told();

struct Ancestry {
    bool under_mpirun = false;  // under the mpirun of this library
    std::optional<Seat> seat;   // the seat of the rank above, if its variables can be read
    std::string parent;         // the name of the process that started this one
};
Ancestry read_ancestry();

}  // namespace lanyard
