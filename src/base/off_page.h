// Where shared memory for long payloads begins in a page (copy.h explains why). Between places that are not
// near, memcpy copies at its full rate, which between two cores is twice that of other loops.
// Tested by: tests/unit/path/shm/cells_test.cc.
#pragma once

#include <cstddef>

namespace lanyard {

// This many bytes after the beginning of a page. A long block of malloc() begins 16 bytes after a page.
constexpr size_t off_page = 1024;

}  // namespace lanyard
