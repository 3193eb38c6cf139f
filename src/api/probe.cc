// Defines the typed functions (types.h) of probes and matched receives (MPI-5.0 section 3.8). Any thread.
// Tested by: tests/mpi/pt2pt/probe.cc, tests/mpi/threads/messages.cc.
#include "api/generated/core.h"
#include "api/message.h"
#include "api/transfers.h"
#include "base/no_memory.h"
#include "runtime/runtime.h"
#include "runtime/waiting.h"

namespace lanyard {

namespace {

void set_probed(Status *status, const Unexpected &message) {
    set_received(status, message.rank, message.tag, static_cast<int64_t>(message.length()));
}

struct Sought {
    Messenger &messenger;
    MatchKey key;
    uint32_t peer;  // no_peer: any peer

    Unexpected *found() const { return messenger.probe(key); }
    bool lost() const { return peer != no_peer && messenger.has_lost(peer); }
};

// [owner] Finds the earliest stored message that matches, or nullptr. With `wait`, waits until there is
// such a message. If the source has failed, no further message can arrive, and the result is an error.
Error find_message(Comm &comm, int source, int tag, bool wait, const char *call, Unexpected *&message) {
    Messenger &messenger = comm.universe->messenger;
    Sought sought{
        messenger, {comm.context, source, tag}, source == abi::any_source ? no_peer : comm.peers[source]};
    message = sought.found();
    if (message) {
        messenger.engine().test_pace().found_something();
        return {};
    }
    if (wait) {
        auto over = [](const void *subject) {
            const auto *s = static_cast<const Sought *>(subject);
            return s->found() || s->lost();
        };
        Waiting waiting(call, tool::WaitFor::message, &comm, source, tag);
        messenger.engine().wait_owned(Condition{over, &sought});
    } else {
        messenger.engine().turn_for_test();
    }
    message = sought.found();
    return message || !sought.lost() ? Error()
                                     : messenger.tell_loss(sought.peer, "the process to receive from");
}

Message *new_message(Comm &comm, Unexpected *stored) {
    Message *message = message_pool().create();
    if (!message) end_for_lack("matched message");
    message->comm = &comm;
    comm.hold();
    message->stored = stored;
    return message;
}

void end_message(Message *&message) {
    if (message == &message_no_proc()) return;
    release_comm(message->comm);
    message_pool().destroy(message);
}

Error start_matched(void *buf, int64_t count, Datatype &datatype, Message *&message, Request **request) {
    bool nothing = message == &message_no_proc();
    Comm &comm = nothing ? *runtime()->universe->self : *message->comm;
    Receive receive{buf, count, datatype, nothing ? abi::proc_null : abi::any_source, abi::any_tag, comm};
    Request *made = new_receive_request(comm, datatype);
    describe(made->receive, receive);
    *request = made;
    if (nothing) {
        complete_at_once(*made);
    } else {
        EngineGuard guard(comm.universe->engine);
        comm.universe->messenger.receive_taken(made->receive, *message->stored);
    }
    end_message(message);
    message = nullptr;
    return {};
}

}  // namespace

ObjectPool<Message> &message_pool() {
    static ObjectPool<Message> *pool = new ObjectPool<Message>(most_open, 0);
    return *pool;
}

Message &message_no_proc() {
    static Message *message = [] {
        Message *made = message_pool().create();
        if (!made) end_without_memory();
        made->abi_value = abi::message_no_proc;
        return made;
    }();
    return *message;
}

extern "C" {

Error lanyard_probe(int source, int tag, Comm &comm, Status *status) {
    if (source == abi::proc_null) {
        set_proc_null(status);
        return {};
    }
    EngineGuard guard(comm.universe->engine);
    Unexpected *message;
    if (Error error = find_message(comm, source, tag, true, "MPI_Probe", message)) return error;
    set_probed(status, *message);
    return {};
}
Error lanyard_iprobe(int source, int tag, Comm &comm, int *flag, Status *status) {
    *flag = 1;
    if (source == abi::proc_null) {
        set_proc_null(status);
        return {};
    }
    EngineGuard guard(comm.universe->engine);
    Unexpected *message;
    if (Error error = find_message(comm, source, tag, false, "MPI_Iprobe", message)) return error;
    *flag = message != nullptr;
    if (message) set_probed(status, *message);
    return {};
}
Error lanyard_mprobe(int source, int tag, Comm &comm, Message **message, Status *status) {
    if (source == abi::proc_null) {
        *message = &message_no_proc();
        set_proc_null(status);
        return {};
    }
    EngineGuard guard(comm.universe->engine);
    Unexpected *stored;
    if (Error error = find_message(comm, source, tag, true, "MPI_Mprobe", stored)) return error;
    set_probed(status, *stored);
    comm.universe->messenger.take(*stored);
    *message = new_message(comm, stored);
    return {};
}
Error lanyard_improbe(int source, int tag, Comm &comm, int *flag, Message **message, Status *status) {
    *flag = 1;
    *message = nullptr;
    if (source == abi::proc_null) {
        *message = &message_no_proc();
        set_proc_null(status);
        return {};
    }
    EngineGuard guard(comm.universe->engine);
    Unexpected *stored;
    if (Error error = find_message(comm, source, tag, false, "MPI_Improbe", stored)) return error;
    *flag = stored != nullptr;
    if (!stored) return {};
    set_probed(status, *stored);
    comm.universe->messenger.take(*stored);
    *message = new_message(comm, stored);
    return {};
}
Error lanyard_imrecv(void *buf, int64_t count, Datatype &datatype, Message *&message, Request **request) {
    return start_matched(buf, count, datatype, message, request);
}
Error lanyard_mrecv(void *buf, int64_t count, Datatype &datatype, Message *&message, Status *status) {
    Request *request = nullptr;
    if (Error error = start_matched(buf, count, datatype, message, &request)) return error;
    return lanyard_wait(request, status);
}

}  // extern "C"

}  // namespace lanyard
