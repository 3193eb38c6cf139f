#include "comm/meeting.h"

#include <deque>

#include "coll/block.h"
#include "coll/tree.h"

namespace lanyard {

Error spread(Messenger &messenger, const Meeting &meeting, void *data, size_t bytes) {
    EngineGuard guard(messenger.engine());
    Error failed;
    auto describe = [&](Transfer &transfer, int sender, int other) {
        transfer.context = meeting.context;
        transfer.tag = meeting.tag;
        transfer.rank = meeting.names[static_cast<size_t>(sender)];
        transfer.peer = meeting.peers[static_cast<size_t>(other)];
        transfer.buffer = {static_cast<std::byte *>(data), static_cast<int64_t>(bytes), &packed_bytes()};
    };
    auto finish = [&](Transfer &transfer) {
        messenger.engine().wait_owned(transfer.completion);
        if (failed) transfer.error.discard();
        else failed = transfer.error;
    };
    BinomialTree tree(meeting.own, meeting.size(), 0);
    if (!tree.is_root()) {
        Transfer receive;
        describe(receive, tree.parent(), tree.parent());
        messenger.receive(receive);
        finish(receive);
    }
    std::deque<Transfer> sends;
    tree.each_child_largest_first([&](int child, int, int) {
        Transfer &send = sends.emplace_back();
        describe(send, meeting.own, child);
        messenger.send(send);
    });
    for (Transfer &send : sends) finish(send);
    return failed;
}

}  // namespace lanyard
