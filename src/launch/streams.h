// Where the standard streams of this host's ranks lead: to those of mpirun (Output), or up to mpirun
// (ForwardedStreams).
#pragma once

namespace lanyard::launch {

class StandardStreams {
public:
    virtual ~StandardStreams() = default;
    // Creates a pipe for what `rank` writes to descriptor `target` (1 or 2) and returns the rank's end.
    // Returns -1 with errno set if the system refuses. The caller closes the rank's end after the rank was
    // started.
    virtual int connect_rank(int rank, int target) = 0;
    // Reads what is in the pipes now, so that it precedes what is printed next.
    virtual void catch_up() = 0;
};

}  // namespace lanyard::launch
