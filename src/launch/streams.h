// Where the standard streams of this host's ranks lead: to mpirun's own (Output), or on to mpirun (ForwardedStreams).
#pragma once

namespace lanyard::launch {

class StandardStreams {
public:
    virtual ~StandardStreams() = default;
    // Makes a pipe for what `rank` writes to descriptor `target` (1 or 2) and returns the rank's end; -1 with errno set
    // when the system refuses. The caller closes it after the rank was started.
    virtual int connect_rank(int rank, int target) = 0;
    // Takes what is in the pipes now, so that it comes before what is said next.
    virtual void catch_up() = 0;
};

}  // namespace lanyard::launch
