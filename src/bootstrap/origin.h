// What a process can find out of how it was started: by variables, by the connection it was given, by the
// processes above it. bootstrap.cc decides by this; mpirun names the connections.
//
// mpirun's end of a rank's connection has a name in the kernel's abstract space that says whose it is,
//     lanyard-pmi-JOB-RANK-SIZE-SEGMENT
// and whoever holds the other end can read it. So the connection is known among all descriptors, also where
// the variables are lost, and no other socket that has got its number is taken for it. The process that joins
// the job as a rank listens until it ends at
//     lanyard-rank-JOB-RANK
// (under other launchers, whose jobs have no name that children know, at lanyard-rank-process-PID).
// So no second process joins as the same rank, and processes that the rank starts can tell that they are not
// the rank: it is there already. Nobody accepts what is connected there: to connect is to ask whose it is.
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
    int segment_fd = -1;  // as the rank has it; -1: none, or not known
};

// By mpirun, of its own end; false when the system refuses.
bool name_connection(int descriptor, const Seat &seat);
// Of the other end, which need not be a socket, or open.
std::optional<Seat> seat_of_connection(int descriptor);
// The same of any descriptor of this process; the latest where there are several, as that of the innermost
// job.
std::optional<Seat> find_connection(int &descriptor);

// The living process that has joined as this rank: 0 if there is none, -1 where its number is not known here.
pid_t holder_of(const Seat &seat);
// From now on until this process ends it is this one; otherwise the number of the other.
pid_t claim(const Seat &seat);

// The same for a process that has joined by the connection of another launcher.
void claim_process();
// Has a process done so from which this one descends? Looks no further up than to a process that starts ranks, by
// its name.
bool below_such_process(std::span<const char *const> starters);

// As getenv; and where the program has cleared its environment, what was there when it started.
const char *started_with(const char *name);

// By the variables of this process.
std::optional<Seat> seat_told();

struct Ancestry {
    bool under_mpirun = false;  // of this library
    std::optional<Seat> seat;   // that of the rank above, where its variables can be read
    std::string parent;         // the name of the process that started this one
};
Ancestry read_ancestry();

}  // namespace lanyard
