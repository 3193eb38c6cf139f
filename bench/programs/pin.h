// Pinning the calling thread to one processor, for benchmarks that must know where they run.
// Acts on the calling thread only, so threads that a library made before stay where they are.
#pragma once

namespace lanyard::bench {

// Pins to the processor number `index` among those this thread may use, counted round. A thread that something else
// has already bound to one processor stays there. Returns the processor's number in the system, or -1 if refused.
int pin_to_processor(int index);

}  // namespace lanyard::bench
