// What happens when the system gives no more memory or addresses.
//
// Where a call of the program wanted much, it gets an error (MPI_ERR_NO_MEM). Elsewhere, as in the midst of a protocol, there
// is nobody to give one to: the process ends with a sentence, and the launcher ends the job. So does every `new` of the
// library: no exception leaves it for want of memory, least of all into the program.
#pragma once

#include <cstddef>

namespace lanyard {

// Ends the process. `what` could not be had: "KiB for WHAT"; of unknown length where `bytes` is 0.
[[noreturn]] void out_of_memory(const char *what, size_t bytes);

// While one exists, `new (std::nothrow)` of this thread may give nullptr; nothing else may be allocated then.
class LackAllowed {
public:
    LackAllowed();
    ~LackAllowed();
    LackAllowed(const LackAllowed &) = delete;
    LackAllowed &operator=(const LackAllowed &) = delete;
};

// From now on `new` in this copy of the C++ library ends as out_of_memory() does.
void end_when_out_of_memory();

}  // namespace lanyard
