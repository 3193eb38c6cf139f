// StandardStreams is where the ranks of this host send their output: mpirun's own streams (Output), or the
// connection to mpirun on another host (ForwardedStreams).
#pragma once

namespace lanyard::launch {

class StandardStreams {
public:
    virtual ~StandardStreams() = default;
    // Creates a pipe for what `rank` writes to descriptor `target` (1 or 2). Returns the rank's end of the
    // pipe, which the caller closes when the rank has been started. Returns -1 with errno set if the system
    // refuses.
    virtual int connect_rank(int rank, int target) = 0;
    // Reads each pipe once now, so that what is in it is printed before a message that the caller is about to
    // print or send. Pipes that must not be read, because the reader of the output is slow, are left out.
    virtual void catch_up() = 0;
};

}  // namespace lanyard::launch
