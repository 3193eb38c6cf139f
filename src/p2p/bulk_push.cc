// See bulk_push.h.
#include "p2p/bulk_push.h"

#include <algorithm>

namespace lanyard {

void BulkPush::begin(uint32_t peer, uint64_t receiver_id, const Buffer &buffer, uint64_t from, uint64_t end,
                     bool in_place, uint64_t token, User &user) {
    user_ = &user;
    peer_ = peer;
    receiver_id_ = receiver_id;
    token_ = token;
    at_ = from;
    end_ = end;
    in_place_ = in_place && buffer.contiguous();
    cursor_ = Cursor(buffer, static_cast<int64_t>(from));
    endpoint_.engine.ready(*this);
}

int BulkPush::push(Task &task) {
    auto &self = static_cast<BulkPush &>(task);
    Path &path = *self.endpoint_.peers[self.peer_].path;
    const Buffer &buffer = self.cursor_.buffer();
    int work = 0;
    while (self.at_ < self.end_) {
        size_t most = self.in_place_ ? path.max_bulk_in_place(self.peer_) : path.info.max_bulk;
        size_t bytes = std::min<size_t>(self.end_ - self.at_, most);
        Payload payload{nullptr, bytes, &self.cursor_};
        if (buffer.contiguous()) payload = {buffer.base + self.at_, bytes, nullptr};
        Sent result = path.send_bulk(self.peer_, {self.receiver_id_, self.at_}, payload, self.token_);
        if (result == Sent::full) {
            self.endpoint_.engine.ready(self);
            return work;
        }
        self.at_ += bytes;
        ++work;
        if (result == Sent::pending) {
            ++self.leaving_;
            return work;  // sent() continues
        }
    }
    if (self.leaving_ == 0) self.user_->pushed();
    return work + 1;
}

}  // namespace lanyard
