// Defines, for the point-to-point programs: Area, the memory of a message, in one piece or in strips, which
// is filled with a pattern and verified byte for byte, gaps included; the sizes around the limits of every
// protocol; and tell_and_hear(), by which a rank waits until another rank has reached a certain place. Uses
// MPI functions only.
#pragma once

#include <cstdint>
#include <vector>

#include "base/valgrind.h"
#include "comm/check.h"

// Returns sizes around these limits: the inline payload (24 bytes), one cell, the eager limit (16 KiB), bulk
// frames (256 KiB), the smallest message that both sides copy, and the pieces that they copy. Under valgrind,
// where every byte takes long, none is longer than a bulk frame and a byte.
inline const std::vector<size_t> &all_sizes() {
    static const std::vector<size_t> sizes = [] {
        std::vector<size_t> all = {0,     1,     23,    24,    25,     63,     64,    65,
                                   639,   640,   641,   4095,  4096,   4097,   16383, 16384,
                                   16385, 65535, 65536, 65537, 262143, 262144, 262145};
        if (!lanyard::under_valgrind()) all.insert(all.end(), {1 << 20, (1 << 20) + 1, 5 << 20});
        return all;
    }();
    return sizes;
}

constexpr size_t strip = 64, stride = 80;
constexpr int sync_tag = 999;

// The memory of one message of `bytes` bytes. With strips, each 64 bytes are followed by a gap of 16 bytes.
class Area {
public:
    Area(size_t bytes, bool strided)
        : bytes_(bytes), strided_(strided), memory_(strided ? (bytes / strip + 1) * stride : bytes + 1) {
        if (!strided) return;
        int lengths[] = {1, static_cast<int>(bytes % strip)};
        MPI_Aint places[] = {0, static_cast<MPI_Aint>(bytes / strip * stride)};
        MPI_Datatype types[] = {MPI_DATATYPE_NULL, MPI_BYTE};
        MPI_Type_vector(static_cast<int>(bytes / strip), strip, stride, MPI_BYTE, &types[0]);
        MPI_Type_create_struct(2, lengths, places, types, &type_);
        MPI_Type_free(&types[0]);
        MPI_Type_commit(&type_);
    }
    ~Area() { free_type(); }
    Area(const Area &) = delete;
    Area &operator=(const Area &) = delete;

    // Frees the datatype only. The memory keeps its strips.
    void free_type() {
        if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
    }

    void *data() { return memory_.data(); }
    int count() const { return strided_ ? 1 : static_cast<int>(bytes_); }
    MPI_Datatype type() const { return strided_ ? type_ : MPI_BYTE; }
    size_t bytes() const { return bytes_; }

    void clear() { std::memset(memory_.data(), unwritten, memory_.size()); }
    void fill(unsigned seed) {
        clear();
        for (size_t from = 0; from < bytes_; from += piece())
            std::memcpy(at(from), pattern(from, seed), std::min(piece(), bytes_ - from));
    }
    void verify(unsigned seed, const std::source_location &where = std::source_location::current()) {
        for (size_t from = 0; from < bytes_; from += piece()) {
            bool right = std::memcmp(at(from), pattern(from, seed), std::min(piece(), bytes_ - from)) == 0;
            if (!right)
                check(false,
                      "bytes from byte " + std::to_string(from) + " of " + std::to_string(bytes_) +
                          " on are wrong",
                      where);
        }
        for (size_t gap = strip; strided_ && gap + (stride - strip) <= memory_.size(); gap += stride)
            check(std::memcmp(&memory_[gap], untouched, stride - strip) == 0, "a gap was written to", where);
        if (!strided_)
            check(memory_[bytes_] == unwritten, "the byte behind the message was written to", where);
    }
    void verify_untouched(const std::source_location &where = std::source_location::current()) {
        bool same = memory_[0] == unwritten &&
                    std::memcmp(memory_.data(), memory_.data() + 1, memory_.size() - 1) == 0;
        check(same, "something was written where no message arrived", where);
    }

private:
    static constexpr unsigned char unwritten = 0xee;
    static constexpr const char *untouched =
        "\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee";
    // Returns the bytes of the message with this seed, beginning with byte `first`. They lie in one table, so
    // that filling a message with the pattern costs only a copy.
    static const unsigned char *pattern(size_t first, unsigned seed) {
        static const std::vector<unsigned char> table = [] {
            std::vector<unsigned char> bytes((6 << 20) + 256 * 31);
            for (size_t i = 0; i < bytes.size(); ++i)
                bytes[i] = static_cast<unsigned char>(i * 7 + (i >> 8) * 13 + (i >> 16) * 5);
            return bytes;
        }();
        return &table[first + seed % 256 * 31];
    }
    size_t piece() const { return strided_ ? strip : std::max<size_t>(bytes_, 1); }
    unsigned char *at(size_t byte) { return memory_.data() + (strided_ ? byte / strip * stride : 0); }

    size_t bytes_;
    bool strided_;
    std::vector<unsigned char> memory_;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// Notifies `to` that this rank has arrived here, and waits for the same notification from `from`. After that,
// all earlier messages from `from` have arrived too.
inline void tell_and_hear(int to, int from, MPI_Comm comm = MPI_COMM_WORLD) {
    MPI_Sendrecv(nullptr, 0, MPI_BYTE, to, sync_tag, nullptr, 0, MPI_BYTE, from, sync_tag, comm,
                 MPI_STATUS_IGNORE);
}

inline void check_status(const MPI_Status &status, int source, int tag, MPI_Count bytes,
                         const std::source_location &where = std::source_location::current()) {
    MPI_Count counted = -1;
    int cancelled = -1;
    MPI_Get_elements_c(&status, MPI_BYTE, &counted);
    MPI_Test_cancelled(&status, &cancelled);
    check_equal(status.MPI_SOURCE, source, where);
    check_equal(status.MPI_TAG, tag, where);
    check_equal(counted, bytes, where);
    check_equal(cancelled, 0, where);
}

// Checks for the status that a null or inactive request has (MPI-5.0 3.7.3).
inline void check_empty(const MPI_Status &status,
                        const std::source_location &where = std::source_location::current()) {
    check_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, where);
}
