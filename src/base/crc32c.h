// Computes the checksum CRC32C (Castagnoli). If LANYARD_CHECKSUM=on, TCP links compute checksums with the
// Intelligent Storage Acceleration Library (ISA-L). Otherwise only `lanyard doctor` loads ISA-L, so most
// machines do not need it. Each datagram carries a checksum, too. That checksum is computed without ISA-L: by
// the instruction of SSE 4.2, or by a table.
// Thread rule: any thread, after load().
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace lanyard {

class Crc32c {
public:
    // Uses ISA-L. If ISA-L is not installed, returns an error that names its package.
    static Error load(Crc32c &made);
    // Needs no library. Uses the instruction of SSE 4.2. Processors without it, also all processors that are
    // not x86-64, use the table, which is ten times slower.
    static Crc32c built_in();
    // Always uses the table.
    static Crc32c of_table();
    explicit operator bool() const { return function_; }
    // The checksum of all data up to and including the `bytes` (less than 2 GiB) at `data`. `before` is the
    // checksum of the data that precede these bytes; 0 if nothing precedes them.
    uint32_t operator()(const void *data, size_t bytes, uint32_t before = 0) const {
        // `function_` inverts neither its argument nor its result, as CRC32C requires.
        return ~function_(const_cast<unsigned char *>(static_cast<const unsigned char *>(data)),
                          static_cast<int>(bytes), ~before);
    }

private:
    unsigned (*function_)(unsigned char *data, int bytes, unsigned before) = nullptr;
};

}  // namespace lanyard
