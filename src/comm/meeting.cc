// See meeting.h.
#include "comm/meeting.h"

#include <deque>

#include "coll/block.h"
#include "coll/tree.h"

namespace lanyard {

int name_of(const Processes &processes, uint32_t peer) {
    return static_cast<int>(processes.name(peer).serial());
}

std::vector<int> names_of(const Processes &processes, const Peers &peers) {
    std::vector<int> names;
    for (uint32_t peer : peers) names.push_back(name_of(processes, peer));
    return names;
}

bool comes_first(const Processes &processes, const Peers &first, const Peers &second) {
    return processes.name(first[0]) < processes.name(second[0]);
}

Error spread(Messenger &messenger, const Meeting &meeting, void *data, size_t bytes) {
    EngineGuard guard(messenger.engine());
    Error failed;
    auto describe = [&](auto &operation, int sender, int other) {
        operation.context = meeting.context;
        operation.tag = meeting.tag;
        operation.rank = meeting.names[static_cast<size_t>(sender)];
        operation.peer = meeting.peers[static_cast<size_t>(other)];
        operation.buffer = {static_cast<std::byte *>(data), static_cast<int64_t>(bytes), &packed_bytes()};
    };
    auto finish = [&](MessageOperation &operation) {
        messenger.engine().wait_owned(operation.completion);
        if (failed) operation.error.discard();
        else failed = operation.error;
    };
    BinomialTree tree(meeting.own, meeting.size(), 0);
    if (!tree.is_root()) {
        ReceiveOperation receive;
        describe(receive, tree.parent(), tree.parent());
        messenger.receive(receive);
        finish(receive);
        if (!failed && receive.received != static_cast<int64_t>(bytes))
            failed = {ErrorClass::other,
                      "another member of the group did not get the values of the new communicator, and so "
                      "could not pass them on"};
    }
    bool has_data = !failed;
    std::deque<SendOperation> sends;
    tree.each_child_largest_first([&](int child, int, int) {
        SendOperation &send = sends.emplace_back();
        describe(send, meeting.own, child);
        if (!has_data) send.buffer.count = 0;
        messenger.send(send);
    });
    for (SendOperation &send : sends) finish(send);
    return failed;
}

}  // namespace lanyard
