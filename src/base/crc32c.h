// CRC32C (Castagnoli). The Intelligent Storage Acceleration Library (ISA-L) is loaded only if the setting
// LANYARD_CHECKSUM requires it, so that other machines need not have it. TCP links and `lanyard doctor` use
// it. Datagrams each carry a checksum; without the library they use the processor's own instruction, or a
// table.
// Thread rule: any thread, after load().
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace lanyard {

class Crc32c {
public:
    // Fails without the library, with an error that names its package.
    static Error load(Crc32c &made);
    // Needs no library. Ten times slower where the processor has no instruction for it.
    static Crc32c built_in();
    static Crc32c of_table();
    explicit operator bool() const { return function_; }
    // Checksum of `bytes` (less than 2 GiB) at `data` that follow other data with the checksum `before`.
    uint32_t operator()(const void *data, size_t bytes, uint32_t before = 0) const {
        // The library's function inverts neither its argument nor its result.
        return ~function_(const_cast<unsigned char *>(static_cast<const unsigned char *>(data)),
                          static_cast<int>(bytes), ~before);
    }

private:
    unsigned (*function_)(unsigned char *data, int bytes, unsigned before) = nullptr;
};

}  // namespace lanyard
