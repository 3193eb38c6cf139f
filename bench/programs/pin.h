// Pins the calling thread to one processor, for benchmarks whose results depend on the processor. Threads
// that a library has created before are not affected.
#pragma once

namespace lanyard::bench {

// Pins the thread to one of the processors that it may use: the one with this index, modulo their number. A
// thread that is already bound to one processor stays there. Returns the system's number of the processor, or
// -1 on failure.
int pin_to_processor(int index);

}  // namespace lanyard::bench
