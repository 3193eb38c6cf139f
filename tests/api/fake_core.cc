// Defines the typed functions that the test of the front end needs. All other typed functions are missing.
#include "fake_core.h"

#include <memory>

#include "api/generated/core.h"

lanyard::HandleTables lanyard_handles;
lanyard::Datatype *lanyard_null_datatype() { return nullptr; }
std::atomic<lanyard::ProcessState> lanyard_process_state{lanyard::ProcessState::before};

namespace lanyard {

namespace {

std::unique_ptr<FakeCore> core;

void predefine(Object &object, int value) {
    object.abi_value = value;
    lanyard_handles.predefined[value] = &object;
}

}  // namespace

FakeCore &fake_core() { return *core; }

void reset_fake_core() {
    core = std::make_unique<FakeCore>();
    FakeCore &f = *core;
    lanyard_handles = {};
    predefine(f.world, abi::comm_world);
    predefine(f.self, abi::comm_self);
    predefine(f.int_type, abi::type_int);
    predefine(f.own_type, abi::type_double);
    predefine(f.uncommitted, abi::type_float);
    predefine(f.sum, abi::op_sum);
    for (int i = 0; i < 14; ++i) predefine(f.requests[i], abi::request_null + 1 + i);
    f.world.size = 4;
    f.world.rank = 1;
    f.self.size = 1;
    for (Datatype *type : {&f.int_type, &f.own_type, &f.uncommitted}) {
        type->size = type->extent = 4;
        type->committed = type != &f.uncommitted;
    }
    lanyard_process_state = ProcessState::active;
}

Error FakeCore::done() {
    ++calls;
    return answer == ErrorClass::success ? Error() : Error(answer, "the core says no");
}

int raise(Error error, RaiseOn on, const Call &call) {
    ErrorRecord record = error.take();
    core->last_call = call.text();
    core->last_sentence = record.sentence;
    core->raised_on = on.object;
    return record.code;
}

extern "C" {

void lanyard_use_door(const Door &) {}

Error lanyard_send(const void *buf, int64_t count, Datatype &datatype, int dest, int tag, Comm &comm) {
    core->numbers = {count, dest, tag};
    core->pointers = {buf, &datatype, &comm};
    return core->done();
}
Error lanyard_recv(void *buf, int64_t count, Datatype &datatype, int source, int tag, Comm &comm,
                   Status *status) {
    core->numbers = {count, source, tag};
    core->pointers = {buf, &datatype, &comm, status};
    if (status) {
        status->source = 3;
        status->set_count(int64_t{1} << 40);
    }
    return core->done();
}
Error lanyard_gatherv(const void *sendbuf, int64_t sendcount, Datatype *sendtype, void *recvbuf,
                      Counts recvcounts, Counts displs, Datatype *recvtype, int root, Comm &) {
    core->numbers = {sendcount, root};
    core->pointers = {sendbuf, sendtype, recvbuf, recvtype};
    for (int i = 0; recvcounts && i < 4; ++i) core->numbers.push_back(recvcounts[i]);
    for (int i = 0; displs && i < 4; ++i) core->numbers.push_back(displs[i]);
    return core->done();
}
Error lanyard_alltoallw(const void *, Counts, Counts, Datatype *const *sendtypes, void *, Counts, Counts,
                        Datatype *const *recvtypes, Comm &) {
    core->pointers = {sendtypes ? sendtypes[3] : nullptr, recvtypes[0], recvtypes[3]};
    return core->done();
}
Error lanyard_get_count(const Status &, Datatype &, int64_t *count) {
    *count = core->result;
    return core->done();
}
Error lanyard_buffer_detach(void **buffer, int64_t *size) {
    *buffer = core.get();
    *size = core->result;
    return core->done();
}
Error lanyard_pack(const void *, int64_t, Datatype &, void *, int64_t outsize, int64_t *position, Comm &) {
    core->numbers = {outsize, *position};
    *position += 4;
    return core->done();
}
Error lanyard_wait(Request *&request, Status *) {
    core->pointers = {request};
    request = nullptr;
    return core->done();
}
Error lanyard_waitall(int count, Request **requests, Status *) {
    core->numbers = {count};
    core->pointers.assign(requests, requests + count);
    for (int i = 0; i < count; i += 2) requests[i] = nullptr;
    return core->done();
}
Error lanyard_comm_dup(Comm &, Comm **newcomm) {
    *newcomm = &core->self;
    return core->done();
}
Error lanyard_comm_split(Comm &, int color, int key, Comm **newcomm) {
    core->numbers = {color, key};
    *newcomm = nullptr;
    return core->done();
}
Error lanyard_type_get_name(Datatype *datatype, char *, int *) {
    core->pointers = {datatype};
    return core->done();
}
Error lanyard_type_vector(int64_t count, int64_t blocklength, int64_t stride, Datatype &, Datatype **newtype,
                          bool large_count) {
    core->numbers = {count, blocklength, stride, large_count};
    *newtype = &core->own_type;
    return core->done();
}
Error lanyard_type_get_contents(Datatype &, int64_t max_integers, int64_t, int64_t max_large_counts,
                                int64_t max_datatypes, int *, int64_t *, int64_t *large_counts,
                                Datatype **datatypes) {
    core->numbers = {max_integers, max_large_counts, max_datatypes};
    core->pointers = {large_counts};
    if (max_datatypes > 0) datatypes[0] = &core->int_type;
    return core->done();
}
Error lanyard_op_create(Callback user_fn, int, Op **op) {
    core->callback = user_fn;
    *op = &core->sum;
    return core->done();
}
Error lanyard_finalized(int *flag) {
    *flag = 0;
    return core->done();
}
double lanyard_wtime() { return 2.5; }
double lanyard_wtick() { return 1e-9; }

}  // extern "C"

}  // namespace lanyard
