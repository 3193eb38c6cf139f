// Translates the predefined handles of one kind to their values in the standard's ABI, and back. The compiler
// fills a table for each direction.
// Tested by: tests/mpich_abi/values_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanyard::mpich_abi {

struct PredefinedHandle {
    uint32_t bits;
    int32_t standard;
};

void two_handles_in_one_slot();  // never defined, so that a call at compile time is a compile error

template <size_t count>
class PredefinedHandles {
public:
    consteval PredefinedHandles(const PredefinedHandle (&all)[count]) : first_(all[0].standard & ~0xff) {
        for (const PredefinedHandle &handle : all) pairs_ |= handle.bits >> 31 != 0;
        for (const PredefinedHandle &handle : all) {
            if (by_bits_[slot(handle.bits)].bits) two_handles_in_one_slot();
            by_bits_[slot(handle.bits)] = handle;
            bits_of_[handle.standard - first_] = handle.bits;
        }
    }

    // The standard's value of a handle, or 0 if there is no such handle.
    int standard(uint32_t bits) const {
        const PredefinedHandle &found = by_bits_[slot(bits)];
        return found.bits == bits ? found.standard : 0;
    }
    // The handle for a value of the standard, or 0 if this ABI has none.
    uint32_t bits(int standard) const { return bits_of_[standard - first_]; }

private:
    // The index in by_bits_. The low 8 bits distinguish the handles of a kind. Some pair types have the same
    // low bits as other datatypes, but their highest bit is set, so they get the second half of the table.
    constexpr size_t slot(uint32_t bits) const { return (pairs_ ? (bits >> 31) << 8 : 0) | (bits & 0xff); }

    bool pairs_ = false;  // true if the kind has pair types
    PredefinedHandle by_bits_[512] = {};
    int first_;
    uint32_t bits_of_[256] = {};
};

template <>
class PredefinedHandles<0> {
public:
    int standard(uint32_t) const { return 0; }
    uint32_t bits(int) const { return 0; }
};

}  // namespace lanyard::mpich_abi
