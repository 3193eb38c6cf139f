// CRC32C (Castagnoli), by the Intelligent Storage Acceleration Library (ISA-L), which is opened only where the setting LANYARD_CHECKSUM
// asks for it: nobody else needs it on the machine. Used by links, and by `lanyard doctor`. Datagrams, each of which carries one, are content with
// the processor's own instruction where the library is not there, or with a table.
// Thread rule: none; load() before anything else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace lanyard {

class Crc32c {
public:
    // Without the library an error that names its package.
    static Error load(Crc32c &made);
    // Without any library; where the processor has no instruction for it, ten times slower.
    static Crc32c built_in();
    static Crc32c of_table();
    explicit operator bool() const { return function_; }
    // Of `bytes` at `data` (less than 2 GiB), behind others whose checksum is `before`.
    uint32_t operator()(const void *data, size_t bytes, uint32_t before = 0) const {
        // The library neither inverts what it is given nor what it returns.
        return ~function_(const_cast<unsigned char *>(static_cast<const unsigned char *>(data)), static_cast<int>(bytes), ~before);
    }

private:
    unsigned (*function_)(unsigned char *data, int bytes, unsigned before) = nullptr;
};

}  // namespace lanyard
