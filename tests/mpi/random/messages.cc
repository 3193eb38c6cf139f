// Exchanges one round of messages between members of some communicators (world.h). All ranks draw the same
// list of messages and begin their sends and receives in the order of this list. A receive must get the
// message that the standard promises: of one sender's messages, the first one that fits (3.5).
//
// In one round, all receives of a member in one communicator have the same style: exact, or with the same
// wildcards. So no wildcard matches a message that another receive needs. The receives, in the order in which
// they were begun, then match each sender's messages in the order in which these were sent. A message to a
// member that receives with wildcards may match a receive that stands later in the list than the message's
// own entry. Such a send is therefore waited for only at the end.
#include <algorithm>
#include <deque>
#include <tuple>

#include "world.h"

namespace random_calls {

namespace {

enum class Style { exact, any_source, any_tag, any };
enum class SendKind { plain, synchronous, buffered, persistent, now, now_synchronous, exchange };
enum class Take { later, persistent, now, probed, matched, matched_later, truncated };

struct Message {
    size_t comm;
    int from, to, tag, units;
    std::shared_ptr<const Signature> unit;
    SendKind kind;
    Take take;
    Content content;
};

struct Receive {
    size_t comm;
    TypePointer type;
    int room = 0;
    std::unique_ptr<Area> area;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status{};
    bool persistent = false, matched = false, done = false, withdrawn = false;
    int source = 0, tag = 0, code = MPI_SUCCESS;
};

struct Send {
    std::unique_ptr<Area> area;
    TypePointer type;
    MPI_Request request = MPI_REQUEST_NULL;
    bool persistent = false, done = false;
    bool early = false;  // the program may wait for it before the end
};

class Round {
public:
    explicit Round(World &world) : world_(world) { draw(); }

    void play() {
        attach_buffers();
        for (size_t i = 0; i < messages_.size(); ++i) {
            const Message &message = messages_[i];
            if (message.kind == SendKind::exchange) {
                exchange(message, messages_[i + 1]);
                ++i;
            } else {
                if (me(message) == message.to) receive(message);
                if (me(message) == message.from) send(message);
            }
            while (world_.own.chance(25)) disturb();
        }
        complete();
        detach_buffers();
        check_receives();
        // This barrier keeps the next round's messages from matching this round's wildcards.
        for (size_t number : comms_)
            if (MPI_Comm comm = world_.comms[number].handle; comm != MPI_COMM_NULL) MPI_Barrier(comm);
    }

private:
    // ---- the list

    void draw() {
        Random &script = world_.script;
        for (size_t i = 0; i < world_.comms.size(); ++i)
            if (i == 0 || script.chance(25)) comms_.push_back(i);
        for (size_t number : comms_)
            for (int member = 0; member < world_.comms[number].size(); ++member)
                styles_[{number, member}] = static_cast<Style>(script.below(4));
        int count = between(script, 4, 40);
        for (int i = 0; i < count; ++i) draw_message();
        for (const Message &message : messages_) expected_[key(message)].push_back(&message);
    }

    void draw_message() {
        Random &script = world_.script;
        size_t number = script.pick(comms_);
        int size = world_.comms[number].size();
        Message message{number,
                        below(script, size),
                        below(script, size),
                        below(script, 3),
                        draw_units(),
                        nullptr,
                        static_cast<SendKind>(script.below(6)),
                        static_cast<Take>(script.below(7)),
                        {script.next()}};
        bool exact = style(message) == Style::exact, itself = message.from == message.to;
        message.unit = unit_of(message);
        if (!exact && message.kind >= SendKind::now) message.kind = SendKind::plain;
        if (message.take == Take::truncated && (!exact || message.units < 2)) message.take = Take::later;
        // If a rank sends a message to itself, it posts the receive first.
        if (itself && message.take != Take::persistent) message.take = Take::later;
        if (!exact) room_[{number, message.to}] = std::max(room_[{number, message.to}], message.units);
        if (exact && !itself && styles_[{number, message.from}] == Style::exact && script.chance(20)) {
            message.kind = SendKind::exchange;
            message.take = Take::now;
            messages_.push_back(message);
            std::swap(message.from, message.to);
            message.tag = below(script, 3);
            message.content = {script.next()};
            message.unit = unit_of(message);
        }
        messages_.push_back(message);
        if (message.kind == SendKind::buffered && me(message) == message.from)
            buffer_bytes_ +=
                static_cast<size_t>(message.units) * message.unit->size() * 16 + MPI_BSEND_OVERHEAD + 16;
    }

    // Messages that may match the same receive have the same signature.
    std::shared_ptr<const Signature> unit_of(const Message &message) {
        auto &unit =
            units_[key_of(message.comm, message.to, style(message) == Style::exact ? message.from : -1,
                          style(message) == Style::exact ? message.tag : -1)];
        if (!unit) unit = std::make_shared<const Signature>(random_signature(world_.script, 10));
        return unit;
    }

    int draw_units() {
        Random &script = world_.script;
        if (script.chance(70)) return below(script, 12);
        if (script.chance(80)) return below(script, 400);
        return below(script, 8000);
    }

    using Key = std::tuple<size_t, int, int>;
    Style style(const Message &message) const { return styles_.at({message.comm, message.to}); }
    // Identifies the messages of one sender to this rank that may match the same receive.
    Key key(const Message &message) const {
        return key_of(message.comm, message.to, message.from, message.tag);
    }
    Key key_of(size_t comm, int to, int from, int tag) const {
        bool any_tag = styles_.at({comm, to}) >= Style::any_tag;
        return {comm * 1000 + static_cast<size_t>(to), from, any_tag ? -1 : tag};
    }
    const Comm &comm_of(size_t number) const { return world_.comms[number]; }
    int me(const Message &message) const { return world_.place_in(comm_of(message.comm)); }

    // Attaches buffers for buffered sends: memory attached to the communicator, automatic buffering, or the
    // buffer of the process. Threads would share the buffer of the process, so it is used only if this thread
    // is alone.
    void attach_buffers() {
        for (size_t number : comms_) {
            MPI_Comm comm = world_.comms[number].handle;
            uint64_t way = world_.own.below(world_.alone ? 3 : 2);
            if (comm == MPI_COMM_NULL || way == 2) continue;
            with_buffer_.push_back(comm);
            if (way == 1) MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
            else
                MPI_Comm_attach_buffer(comm, rooms_.emplace_back(buffer_bytes_).data(),
                                       static_cast<int>(buffer_bytes_));
        }
        if (world_.alone)
            MPI_Buffer_attach(rooms_.emplace_back(buffer_bytes_).data(), static_cast<int>(buffer_bytes_));
    }
    void detach_buffers() {
        void *address;
        int bytes;
        for (MPI_Comm comm : with_buffer_) MPI_Comm_detach_buffer(comm, &address, &bytes);
        if (world_.alone) MPI_Buffer_detach(&address, &bytes);
    }

    // ---- the calls

    Send &new_send(const Message &message) {
        Send &send = *sends_.emplace_back(std::make_unique<Send>());
        send.type = random_type(world_.own, *message.unit);
        send.area = std::make_unique<Area>(world_.own, send.type, message.units);
        send.area->put(0, message.content);
        send.early = style(message) == Style::exact;
        send.done = message.kind >= SendKind::now || message.kind == SendKind::buffered;
        return send;
    }

    void send(const Message &message) {
        Send &send = new_send(message);
        MPI_Comm comm = comm_of(message.comm).handle;
        void *data = send.area->address();
        MPI_Datatype type = send.type->handle;
        switch (message.kind) {
            case SendKind::plain:
                MPI_Isend(data, message.units, type, message.to, message.tag, comm, &send.request);
                break;
            case SendKind::synchronous:
                MPI_Issend(data, message.units, type, message.to, message.tag, comm, &send.request);
                break;
            case SendKind::buffered:
                MPI_Bsend(data, message.units, type, message.to, message.tag, comm);
                break;
            case SendKind::now:
                MPI_Send(data, message.units, type, message.to, message.tag, comm);
                break;
            case SendKind::now_synchronous:
                MPI_Ssend(data, message.units, type, message.to, message.tag, comm);
                break;
            default:
                MPI_Send_init(data, message.units, type, message.to, message.tag, comm, &send.request);
                MPI_Start(&send.request);
                send.persistent = true;
        }
    }

    Receive &new_receive(const Message &message) {
        Receive &receive = *receives_.emplace_back(std::make_unique<Receive>());
        Style how = style(message);
        receive.comm = message.comm;
        receive.source = how == Style::any_source || how == Style::any ? MPI_ANY_SOURCE : message.from;
        receive.tag = how == Style::any_tag || how == Style::any ? MPI_ANY_TAG : message.tag;
        // Any message that fits this receive may arrive, so the receive has room for the longest of them.
        if (how == Style::exact)
            for (const Message *other : expected_.at(key(message)))
                receive.room = std::max(receive.room, other->units);
        else receive.room = room_.at({message.comm, message.to});
        if (message.take == Take::truncated) receive.room = message.units - 1;
        else receive.room += below(world_.own, 3);
        receive.type = random_type(world_.own, *message.unit);
        receive.area = std::make_unique<Area>(world_.own, receive.type, receive.room);
        return receive;
    }

    void receive(const Message &message) {
        Receive &receive = new_receive(message);
        MPI_Comm comm = comm_of(message.comm).handle;
        void *data = receive.area->address();
        MPI_Datatype type = receive.type->handle;
        MPI_Status *status = &receive.status;
        MPI_Message found;
        int flag = 0;
        switch (message.take) {
        case Take::persistent:
            MPI_Recv_init(data, receive.room, type, receive.source, receive.tag, comm, &receive.request);
            MPI_Start(&receive.request);
            receive.persistent = true;
            return;
        case Take::now: MPI_Recv(data, receive.room, type, receive.source, receive.tag, comm, status); break;
        case Take::probed:
            if (world_.own.chance(50)) MPI_Probe(receive.source, receive.tag, comm, status);
            else while (!flag) MPI_Iprobe(receive.source, receive.tag, comm, &flag, status);
            check_probed(receive);
            MPI_Recv(data, receive.room, type, status->MPI_SOURCE, status->MPI_TAG, comm, status);
            break;
        case Take::matched:
        case Take::matched_later:
            if (world_.own.chance(50)) MPI_Mprobe(receive.source, receive.tag, comm, &found, status);
            else while (!flag) MPI_Improbe(receive.source, receive.tag, comm, &flag, &found, status);
            check_probed(receive);
            if (message.take == Take::matched_later) {
                MPI_Imrecv(data, receive.room, type, &found, &receive.request);
                receive.matched = true;
                return;
            }
            MPI_Mrecv(data, receive.room, type, &found, status);
            break;
        case Take::truncated:
            MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
            receive.code = MPI_Recv(data, receive.room, type, receive.source, receive.tag, comm, status);
            MPI_Comm_set_errhandler(comm, world_.handler);
            break;
        default:
            MPI_Irecv(data, receive.room, type, receive.source, receive.tag, comm, &receive.request);
            return;
        }
        receive.done = true;
    }

    void check_probed(const Receive &receive) {
        int units = -1;
        MPI_Get_count(&receive.status, receive.type->handle, &units);
        check(units >= 0 && units <= receive.room, "a probe tells a wrong length");
    }

    // Exchanges two messages in opposite directions. Each side sends and receives with MPI_Sendrecv or
    // MPI_Isendrecv.
    void exchange(const Message &there, const Message &back) {
        if (me(there) != there.from && me(there) != there.to) return;
        const Message &out = me(there) == there.from ? there : back,
                      &in = me(there) == there.from ? back : there;
        Send &send = new_send(out);
        Receive &receive = new_receive(in);
        MPI_Comm comm = comm_of(out.comm).handle;
        if (world_.own.chance(50))
            MPI_Sendrecv(send.area->address(), out.units, send.type->handle, out.to, out.tag,
                         receive.area->address(), receive.room, receive.type->handle, in.from, in.tag, comm,
                         &receive.status);
        else {
            MPI_Request request;
            MPI_Isendrecv(send.area->address(), out.units, send.type->handle, out.to, out.tag,
                          receive.area->address(), receive.room, receive.type->handle, in.from, in.tag, comm,
                          &request);
            MPI_Wait(&request, &receive.status);
        }
        receive.done = true;
    }

    // Does something between two messages: waits, begins a receive that no message matches, or cancels a
    // receive and posts it again.
    void disturb() {
        Random &own = world_.own;
        if (own.chance(20)) return receive_nothing();
        if (own.chance(50) && !sends_.empty()) {
            Send &send = *own.pick(sends_);
            if (send.early && !send.done) MPI_Wait(&send.request, MPI_STATUS_IGNORE), send.done = true;
        } else if (!receives_.empty()) {
            Receive &receive = *own.pick(receives_);
            if (receive.done || receive.withdrawn) return;
            if (own.chance(30) && !receive.persistent && !receive.matched) return take_back(receive);
            int flag = 0;
            if (own.chance(50)) MPI_Wait(&receive.request, &receive.status);
            else while (!flag) MPI_Test(&receive.request, &flag, &receive.status);
            receive.done = true;
        }
    }

    void receive_nothing() {
        MPI_Comm comm = comm_of(0).handle;
        int nothing = 0, cancelled = 0;
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 77, comm, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &cancelled);
        check(cancelled, "a receive that nobody answers was not cancelled");
    }

    void take_back(Receive &receive) {
        int cancelled = 0;
        MPI_Cancel(&receive.request);
        MPI_Wait(&receive.request, &receive.status);
        MPI_Test_cancelled(&receive.status, &cancelled);
        receive.done = !cancelled;
        if (!cancelled) return;
        receive.withdrawn = true;
        auto again = std::make_unique<Receive>();
        again->comm = receive.comm, again->type = receive.type, again->room = receive.room,
        again->area = std::move(receive.area);
        again->source = receive.source, again->tag = receive.tag;
        MPI_Irecv(again->area->address(), again->room, again->type->handle, again->source, again->tag,
                  comm_of(again->comm).handle, &again->request);
        receives_.push_back(std::move(again));
    }

    // ---- the end

    void complete() {
        std::vector<MPI_Request> requests;
        std::vector<Receive *> owners;
        for (auto &receive : receives_)
            if (!receive->done && !receive->withdrawn)
                requests.push_back(receive->request), owners.push_back(receive.get());
        for (auto &send : sends_)
            if (!send->done) requests.push_back(send->request), owners.push_back(nullptr);
        complete_by_any(world_.own, requests, [&](size_t index, const MPI_Status &status) {
            if (Receive *receive = owners[index]) receive->status = status, receive->done = true;
        });
        for (auto &receive : receives_)
            if (receive->persistent) MPI_Request_free(&receive->request);
        for (auto &send : sends_)
            if (send->persistent) MPI_Request_free(&send->request);
    }

    // Checks the receives by the definition. For each sender there is a list of its messages. In the order in
    // which they were begun, each receive must have got the first message of the list of its sender.
    void check_receives() {
        for (auto &one : receives_) {
            Receive &receive = *one;
            if (receive.withdrawn) continue;
            bool cut = receive.code != MPI_SUCCESS;
            int source = cut ? receive.source : receive.status.MPI_SOURCE,
                tag = cut ? receive.tag : receive.status.MPI_TAG;
            auto &waiting =
                expected_[key_of(receive.comm, world_.place_in(comm_of(receive.comm)), source, tag)];
            check(!waiting.empty(), "a receive got a message that nobody sent");
            const Message &message = *waiting.front();
            waiting.pop_front();
            check(cut == (message.units > receive.room),
                  "a message that is too long was not refused, or another was");
            if (cut) {
                check_class(receive.code, MPI_ERR_TRUNCATE);
                continue;
            }
            check(tag == message.tag, "a message overtook another of the same sender");
            int units = -1, elements = -1, wanted = message.units * static_cast<int>(message.unit->size());
            MPI_Get_count(&receive.status, receive.type->handle, &units);
            MPI_Get_elements(&receive.status, receive.type->handle, &elements);
            check(units == message.units && elements == wanted,
                  "a status has a wrong count: " + std::to_string(units) + ", not " +
                      std::to_string(message.units));
            receive.area->expect(0, message.content, 0, wanted);
            receive.area->check_it("a receive");
        }
    }

    World &world_;
    std::vector<size_t> comms_;
    std::map<std::pair<size_t, int>, Style> styles_;
    std::map<Key, std::shared_ptr<const Signature>> units_;
    std::map<std::pair<size_t, int>, int> room_;
    std::vector<Message> messages_;
    std::map<Key, std::deque<const Message *>> expected_;
    std::deque<std::unique_ptr<Send>> sends_;
    std::deque<std::unique_ptr<Receive>> receives_;
    size_t buffer_bytes_ = MPI_BSEND_OVERHEAD;
    std::vector<MPI_Comm> with_buffer_;  // communicators with an attached buffer
    std::deque<std::vector<char>> rooms_;
};

}  // namespace

void exchange_messages(World &world) { Round(world).play(); }

}  // namespace random_calls
