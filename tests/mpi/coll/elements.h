// Defines elements of predefined datatypes, and their expected values, for the collective tests. The tests
// fill the elements with small whole numbers. Every number format represents these exactly, so the tests
// compute the expected results in plain integers. Uses only MPI functions.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

enum class Kind {
    none,
    signed_integer,
    unsigned_integer,
    floating,
    long_floating,
    complex,
    long_complex,
    logical,
    character = CHAR_MIN < 0 ? signed_integer : unsigned_integer
};

// A predefined datatype. `allowed` lists the operations defined on it, with a blank before and after each
// name. In a pair type (a value with an index), the index has a kind and a width of its own.
struct Row {
    MPI_Datatype type;
    const char *name;
    Kind kind;
    int width;
    Kind index_kind;
    int index_width;
    const char *allowed;

    bool allows(const char *op) const {
        return std::string(allowed).find(std::string(" ") + op + " ") != std::string::npos;
    }
    bool complex() const { return kind == Kind::complex || kind == Kind::long_complex; }
    bool supported() const {
        int size = 0;
        return MPI_Type_size(type, &size) == MPI_SUCCESS && size != MPI_UNDEFINED;
    }
};

#include "coll_table.h"

// The expected value of an element: a number in `a` and, for complex and pair types, the imaginary part or
// index in `b`.
struct Plain {
    long a = 0, b = 0;
    bool operator==(const Plain &) const = default;
};

inline uint16_t half_of(long n) {
    if (n == 0) return 0;
    unsigned long size = static_cast<unsigned long>(n < 0 ? -n : n);
    int exponent = 63 - __builtin_clzl(size);
    return static_cast<uint16_t>((n < 0 ? 0x8000 : 0) | (exponent + 15) << 10 |
                                 ((size << (10 - exponent)) & 0x3ff));
}
inline long from_half(uint16_t bits) {
    if ((bits & 0x7fff) == 0) return 0;
    long size = ((bits & 0x3ff) | 0x400) >> (25 - (bits >> 10 & 0x1f));
    return bits & 0x8000 ? -size : size;
}

template <class T>
void store(unsigned char *at, long n) {
    T value = static_cast<T>(n);
    std::memcpy(at, &value, sizeof value);
}
template <class T>
long load(const unsigned char *at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<long>(value);
}

inline void store_number(unsigned char *at, Kind kind, int width, long n) {
    bool real = kind == Kind::floating || kind == Kind::complex;
    if (kind == Kind::long_floating || kind == Kind::long_complex) return store<long double>(at, n);
    if (!real) {
        __int128 value = n;
        std::memcpy(at, &value, static_cast<size_t>(width));
    } else if (width == 2) {
        uint16_t bits = half_of(n);
        std::memcpy(at, &bits, 2);
    } else if (width == 4) {
        store<float>(at, n);
    } else if (width == 8) {
        store<double>(at, n);
    } else {
        store<__float128>(at, n);
    }
}
inline long load_number(const unsigned char *at, Kind kind, int width) {
    bool real = kind == Kind::floating || kind == Kind::complex;
    if (kind == Kind::long_floating || kind == Kind::long_complex) return load<long double>(at);
    if (real && width == 2) return from_half(static_cast<uint16_t>(load<uint16_t>(at)));
    if (real) return width == 4 ? load<float>(at) : width == 8 ? load<double>(at) : load<__float128>(at);
    if (width == 1) return kind == Kind::signed_integer ? load<int8_t>(at) : load<uint8_t>(at);
    if (width == 2) return kind == Kind::signed_integer ? load<int16_t>(at) : load<uint16_t>(at);
    if (width == 4) return load<int32_t>(at);
    return load<int64_t>(at);
}

// Memory for elements of one datatype.
class Elements {
public:
    Elements(const Row &row, int count) : row_(row), count_(count) {
        MPI_Aint lower = 0;
        MPI_Type_get_extent(row.type, &lower, &extent_);
        bytes_.assign(static_cast<size_t>(extent_) * static_cast<size_t>(count) + 64, 0x77);
        int width = row.complex() ? row.width : row.index_width;
        second_ = width ? (row.width + width - 1) / width * width : 0;
    }
    void *data() { return bytes_.data(); }
    void *at(int i) { return bytes_.data() + i * extent_; }
    int count() const { return count_; }
    void put(int i, Plain plain) {
        auto *place = static_cast<unsigned char *>(at(i));
        store_number(place, row_.kind, row_.width, plain.a);
        if (row_.complex()) store_number(place + second_, row_.kind, row_.width, plain.b);
        else if (row_.index_width) store_number(place + second_, row_.index_kind, row_.index_width, plain.b);
    }
    Plain get(int i) {
        auto *place = static_cast<unsigned char *>(at(i));
        Plain plain{load_number(place, row_.kind, row_.width), 0};
        if (row_.complex()) plain.b = load_number(place + second_, row_.kind, row_.width);
        else if (row_.index_width) plain.b = load_number(place + second_, row_.index_kind, row_.index_width);
        return plain;
    }
    // Drops the part of a value that the datatype does not hold.
    Plain cut(Plain plain) const { return row_.complex() || row_.index_width ? plain : Plain{plain.a, 0}; }

private:
    const Row &row_;
    int count_;
    MPI_Aint extent_ = 0;
    int second_ = 0;
    std::vector<unsigned char> bytes_;
};

// Failures are counted, and the first ten of each rank are printed.
inline int failures = 0;

inline void fail(const std::string &what) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (++failures <= 10) std::fprintf(stderr, "rank %d: %s\n", rank, what.c_str());
}

inline std::string text_of(Plain p) { return "(" + std::to_string(p.a) + ", " + std::to_string(p.b) + ")"; }

inline void expect(Elements &elements, int i, Plain wanted, const std::string &what) {
    Plain got = elements.get(i);
    if (!(got == elements.cut(wanted)))
        fail(what + ": element " + std::to_string(i) + " is " + text_of(got) + ", should be " +
             text_of(wanted));
}

// Ends the program with the same exit code on all ranks.
inline int report() {
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all ? 1 : 0;
}
