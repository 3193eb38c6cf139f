// Units for numbers of bytes. A product with one of them is a size_t, so it cannot overflow as an int would.
#pragma once

#include <cstddef>

namespace lanyard {

constexpr size_t KiB = 1024, MiB = 1024 * KiB;

}  // namespace lanyard
