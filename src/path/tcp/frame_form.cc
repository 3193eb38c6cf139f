// See frame_form.h.
#include "path/tcp/frame_form.h"

#include <algorithm>

namespace lanyard {

FrameCheck FrameForm::check_of(FrameHeader &header, std::span<const std::byte> body,
                               std::span<const std::byte> first, std::span<const std::byte> rest) const {
    header.reserved = kind_check(header);
    FrameCheck check;
    check.head = crc_(body.data(), body.size(), crc_(&header, sizeof header));
    auto beginning = first.first(std::min(first.size(), most_beginning));
    auto beginning_of_rest = rest.first(std::min(rest.size(), most_beginning - beginning.size()));
    check.beginning =
        crc_(beginning_of_rest.data(), beginning_of_rest.size(), crc_(beginning.data(), beginning.size()));
    check.payload = crc_(rest.data(), rest.size(), crc_(first.data(), first.size()));
    return check;
}

bool FrameForm::is_sensible(const FrameHeader &header) const {
    if (is_checked() && header.reserved != kind_check(header)) return false;
    switch (header.kind) {
        case FrameKind::envelope: return header.size <= max_eager_;
        case FrameKind::bulk: return header.size <= max_bulk_;
        case FrameKind::acknowledge: return header.size == 0;
    }
    return false;
}

ssize_t FrameForm::believed(const FrameHead &head, const std::byte *payload, size_t received) const {
    size_t beginning = std::min<size_t>(head.header.size, most_beginning);
    if (received < beginning) return 0;
    return crc_(payload, beginning) == check_in(head).beginning ? static_cast<ssize_t>(beginning) : -1;
}

}  // namespace lanyard
