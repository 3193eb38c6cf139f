// Pins the calling thread to one processor, for benchmarks that depend on where they run. Threads that a
// library created before are not affected.
#pragma once

namespace lanyard::bench {

// Pins to the processor number `index`, modulo their number, among those that this thread may use. A thread
// that is already bound to one processor stays there. Returns the system's number of the processor, or -1 on
// failure.
int pin_to_processor(int index);

}  // namespace lanyard::bench
