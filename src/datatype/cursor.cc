// Implements Cursor, and the Movers (walk.h) by which a Cursor packs, unpacks, and lists runs.
#include "datatype/cursor.h"

#include <cstring>

#include "base/copy.h"
#include "datatype/walk.h"

namespace lanyard {

namespace {

// Copies a block of a datatype. Most blocks of derived datatypes have at most 64 bytes, so these are copied
// without a call.
inline void copy_block(std::byte *to, const std::byte *from, int64_t bytes) {
    // Copies the first and the last word of the block. The two words overlap if the block is shorter than
    // both.
    auto ends = [&](auto word) {
        auto last = word;
        std::memcpy(&word, from, sizeof word);
        std::memcpy(&last, from + bytes - static_cast<int64_t>(sizeof word), sizeof word);
        std::memcpy(to, &word, sizeof word);
        std::memcpy(to + bytes - static_cast<int64_t>(sizeof word), &last, sizeof word);
    };
    struct Two {
        uint64_t words[2];
    };
    struct Four {
        uint64_t words[4];
    };
    if (bytes > 64) copy_bytes(to, from, static_cast<size_t>(bytes));
    else if (bytes >= 32) ends(Four{});
    else if (bytes >= 16) ends(Two{});
    else if (bytes >= 8) ends(uint64_t{});
    else if (bytes >= 4) ends(uint32_t{});
    else if (bytes >= 2) ends(uint16_t{});
    else *to = *from;
}

// Calls body(bytes). If `bytes` is one of the common block sizes, body gets a compile-time constant, so that
// its loop copies without calls.
template <class Body>
inline void with_constant_size(int64_t bytes, Body body) {
    switch (bytes) {
    case 1: return body(std::integral_constant<int64_t, 1>{});
    case 2: return body(std::integral_constant<int64_t, 2>{});
    case 4: return body(std::integral_constant<int64_t, 4>{});
    case 8: return body(std::integral_constant<int64_t, 8>{});
    case 12: return body(std::integral_constant<int64_t, 12>{});
    case 16: return body(std::integral_constant<int64_t, 16>{});
    case 24: return body(std::integral_constant<int64_t, 24>{});
    case 32: return body(std::integral_constant<int64_t, 32>{});
    case 48: return body(std::integral_constant<int64_t, 48>{});
    case 64: return body(std::integral_constant<int64_t, 64>{});
    }
    body(bytes);
}

template <class Size>
inline void copy_sized(std::byte *to, const std::byte *from, Size bytes) {
    if constexpr (std::is_same_v<Size, int64_t>) copy_block(to, from, bytes);
    else std::memcpy(to, from, static_cast<size_t>(Size::value));
}

// Copies records (structures of several runs) field by field, so that each field has a tight loop. This is
// done for a few records at a time, so that these records stay in the cache.
template <class CopyField>
void field_by_field(int64_t count, const Layout &record, CopyField copy_field) {
    int64_t some = std::max<int64_t>(8192 / record.size, 1);
    for (int64_t first = 0; first < count; first += some)
        for (const LayoutPart &part : record.parts) copy_field(first, std::min(first + some, count), part);
}

struct Packer {
    std::byte *out;

    bool run(const std::byte *at, int64_t bytes) {
        copy_block(out, at, bytes);
        out += bytes;
        return true;
    }
    bool strided(const std::byte *at, int64_t stride, int64_t count, int64_t bytes) {
        with_constant_size(bytes, [&](auto size) {
            std::byte *to = out;
            const std::byte *from = at;
            for (int64_t i = 0; i < count; ++i, to += bytes, from += stride) copy_sized(to, from, size);
        });
        out += count * bytes;
        return true;
    }
    bool indexed(const std::byte *at, const int64_t *offsets, int64_t count, int64_t bytes) {
        with_constant_size(bytes, [&](auto size) {
            std::byte *to = out;
            for (int64_t i = 0; i < count; ++i, to += bytes) copy_sized(to, at + offsets[i], size);
        });
        out += count * bytes;
        return true;
    }
    bool records(const std::byte *at, int64_t stride, int64_t count, const Layout &record) {
        field_by_field(count, record, [&](int64_t first, int64_t last, const LayoutPart &part) {
            with_constant_size(part.bytes, [&](auto size) {
                std::byte *to = out + first * record.size + part.position;
                const std::byte *from = at + first * stride + part.offset;
                for (int64_t i = first; i < last; ++i, to += record.size, from += stride)
                    copy_sized(to, from, size);
            });
        });
        out += count * record.size;
        return true;
    }
};

struct Unpacker {
    const std::byte *in;

    bool run(std::byte *at, int64_t bytes) {
        copy_block(at, in, bytes);
        in += bytes;
        return true;
    }
    bool strided(std::byte *at, int64_t stride, int64_t count, int64_t bytes) {
        with_constant_size(bytes, [&](auto size) {
            const std::byte *from = in;
            std::byte *to = at;
            for (int64_t i = 0; i < count; ++i, from += bytes, to += stride) copy_sized(to, from, size);
        });
        in += count * bytes;
        return true;
    }
    bool indexed(std::byte *at, const int64_t *offsets, int64_t count, int64_t bytes) {
        with_constant_size(bytes, [&](auto size) {
            const std::byte *from = in;
            for (int64_t i = 0; i < count; ++i, from += bytes) copy_sized(at + offsets[i], from, size);
        });
        in += count * bytes;
        return true;
    }
    bool records(std::byte *at, int64_t stride, int64_t count, const Layout &record) {
        field_by_field(count, record, [&](int64_t first, int64_t last, const LayoutPart &part) {
            with_constant_size(part.bytes, [&](auto size) {
                const std::byte *from = in + first * record.size + part.position;
                std::byte *to = at + first * stride + part.offset;
                for (int64_t i = first; i < last; ++i, from += record.size, to += stride)
                    copy_sized(to, from, size);
            });
        });
        in += count * record.size;
        return true;
    }
};

struct RunLister {
    iovec *to;
    int limit;
    int listed = 0;
    int64_t total = 0;

    bool run(std::byte *at, int64_t bytes) {
        if (listed > 0 && static_cast<std::byte *>(to[listed - 1].iov_base) + to[listed - 1].iov_len == at) {
            to[listed - 1].iov_len += static_cast<size_t>(bytes);
        } else {
            if (listed == limit) return false;
            to[listed++] = {at, static_cast<size_t>(bytes)};
        }
        total += bytes;
        return true;
    }
    bool strided(std::byte *at, int64_t stride, int64_t count, int64_t bytes) {
        for (int64_t i = 0; i < count; ++i)
            if (!run(at + i * stride, bytes)) return false;
        return true;
    }
    bool indexed(std::byte *at, const int64_t *offsets, int64_t count, int64_t bytes) {
        for (int64_t i = 0; i < count; ++i)
            if (!run(at + offsets[i], bytes)) return false;
        return true;
    }
    bool records(std::byte *at, int64_t stride, int64_t count, const Layout &record) {
        for (; count > 0; --count, at += stride)
            if (!walk_all(record, at, *this)) return false;
        return true;
    }
};

template <class Mover>
void move(const Buffer &buffer, int64_t position, int64_t bytes, Mover &mover) {
    const Datatype &type = *buffer.datatype;
    walk_repeated(*type.layout, buffer.base + type.origin, type.extent, position, position + bytes, mover);
}

int64_t at_most(size_t bytes, int64_t remaining) {
    return static_cast<int64_t>(std::min(bytes, static_cast<size_t>(std::max<int64_t>(remaining, 0))));
}

}  // namespace

size_t Cursor::pack(void *to, size_t bytes) {
    int64_t some = at_most(bytes, remaining());
    if (some == 0) return 0;
    if (buffer_.contiguous()) {
        copy_bytes(to, buffer_.base + position_, static_cast<size_t>(some));
    } else {
        Packer packer{static_cast<std::byte *>(to)};
        move(buffer_, position_, some, packer);
    }
    position_ += some;
    return static_cast<size_t>(some);
}

size_t Cursor::unpack(const void *from, size_t bytes) {
    int64_t some = at_most(bytes, remaining());
    if (some == 0) return 0;
    if (buffer_.contiguous()) {
        copy_bytes(buffer_.base + position_, from, static_cast<size_t>(some));
    } else {
        Unpacker unpacker{static_cast<const std::byte *>(from)};
        move(buffer_, position_, some, unpacker);
    }
    position_ += some;
    return static_cast<size_t>(some);
}

int Cursor::runs(iovec *to, int limit, size_t bytes) {
    int64_t some = at_most(bytes, remaining());
    if (some == 0 || limit <= 0) return 0;
    if (buffer_.contiguous()) {
        to[0] = {buffer_.base + position_, static_cast<size_t>(some)};
        position_ += some;
        return 1;
    }
    RunLister lister{to, limit};
    move(buffer_, position_, some, lister);
    position_ += lister.total;
    return lister.listed;
}

int64_t copy(const Buffer &from, const Buffer &to) {
    Cursor source(from), target(to);
    int64_t bytes = std::min(from.bytes(), to.bytes());
    if (bytes <= 0) return 0;
    if (from.contiguous()) return static_cast<int64_t>(target.unpack(from.base, static_cast<size_t>(bytes)));
    if (to.contiguous()) return static_cast<int64_t>(source.pack(to.base, static_cast<size_t>(bytes)));
    std::byte piece[4096];  // not larger, because a thread of the program may have a small stack
    for (int64_t done = 0; done < bytes;) {
        size_t some = source.pack(piece, static_cast<size_t>(std::min<int64_t>(bytes - done, sizeof piece)));
        target.unpack(piece, some);
        done += static_cast<int64_t>(some);
    }
    return bytes;
}

}  // namespace lanyard
