// Tests the entry points of libmpi_abi.so.1: what they check, how they pass arguments to the typed functions,
// and how they return results.
#include <gtest/gtest.h>
#include <mpi.h>

#include <climits>
#include <cstring>

#include "api/door.h"
#include "fake_core.h"

namespace lanyard {

class DoorTest : public testing::Test {
protected:
    void SetUp() override { reset_fake_core(); }
    FakeCore &core() { return fake_core(); }
    // Expects that the last call failed with this class and sentence and reached no typed function.
    void expect_error(int code, ErrorClass error_class, const std::string &sentence) {
        EXPECT_EQ(code, static_cast<int>(error_class));
        EXPECT_EQ(core().last_sentence, sentence);
        EXPECT_EQ(core().calls, 0);
    }
    int data[4] = {};
};

TEST_F(DoorTest, PassesBothWidthsToOneFunction) {
    EXPECT_EQ(MPI_Send(data, 3, MPI_INT, 2, 7, MPI_COMM_WORLD), MPI_SUCCESS);
    EXPECT_EQ(core().numbers, (std::vector<int64_t>{3, 2, 7}));
    EXPECT_EQ(core().pointers, (std::vector<const void *>{data, &core().int_type, &core().world}));
    EXPECT_EQ(PMPI_Send_c(data, MPI_Count{1} << 40, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    EXPECT_EQ(core().numbers, (std::vector<int64_t>{int64_t{1} << 40, abi::proc_null, 0}));
}

TEST_F(DoorTest, ShowsTheCallAndItsArguments) {
    EXPECT_EQ(MPI_Send(nullptr, -1, MPI_INT, 9, 7, MPI_COMM_WORLD), MPI_ERR_COUNT);
    EXPECT_EQ(core().last_call,
              "MPI_Send(buf=NULL, count=-1, datatype=MPI_INT, dest=9, tag=7, comm=MPI_COMM_WORLD)");
    EXPECT_EQ(core().raised_on, &core().world);
    MPI_Recv(MPI_IN_PLACE, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(core().last_call,
              "MPI_Recv(buf=MPI_IN_PLACE, count=1, datatype=MPI_INT, source=MPI_ANY_SOURCE, tag=MPI_ANY_TAG, "
              "comm=MPI_COMM_WORLD, status=NULL)");
}

TEST_F(DoorTest, ShowsTheNameOfAnObject) {
    core().own_type.name.set("column");
    core().own_type.abi_value = 0;
    core().own_type.committed = false;
    expect_error(MPI_Send(data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD), ErrorClass::type,
        "datatype: the datatype \"column\" is not committed; call MPI_Type_commit first");
}

TEST_F(DoorTest, ChecksWhetherMpiMayBeCalled) {
    lanyard_process_state = ProcessState::before;
    expect_error(MPI_Send(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), ErrorClass::other,
        "MPI is not initialised; call MPI_Init, MPI_Init_thread or MPI_Session_init first");
    lanyard_process_state = ProcessState::finalized;
    expect_error(MPI_Send(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), ErrorClass::other,
        "MPI is finalised; nothing but queries of its state may be called now");
    int flag = 1;
    EXPECT_EQ(MPI_Finalized(&flag), MPI_SUCCESS);
    EXPECT_EQ(flag, 0);
}

TEST_F(DoorTest, ChecksHandles) {
    expect_error(MPI_Send(data, 1, MPI_INT, 0, 0, MPI_COMM_NULL), ErrorClass::comm, "comm is MPI_COMM_NULL");
    EXPECT_EQ(core().raised_on, nullptr);
    expect_error(MPI_Send(data, 1, MPI_INT, 0, 0, nullptr), ErrorClass::comm,
                 "comm is 0, which is no communicator");
    expect_error(MPI_Send(data, 1, MPI_INT, 0, 0, reinterpret_cast<MPI_Comm>(data)), ErrorClass::comm,
        "comm is no communicator: it was freed or never made");
    expect_error(MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), ErrorClass::type,
                 "datatype is MPI_DATATYPE_NULL");
    expect_error(MPI_Send(data, 1, reinterpret_cast<MPI_Datatype>(MPI_SUM), 0, 0, MPI_COMM_WORLD),
                 ErrorClass::type, "datatype is MPI_SUM, which is no datatype");
    expect_error(MPI_Send(data, 1, MPI_FLOAT, 0, 0, MPI_COMM_WORLD), ErrorClass::type,
        "datatype: MPI_FLOAT is not committed; call MPI_Type_commit first");
}

TEST_F(DoorTest, ChecksRanksAndTags) {
    expect_error(MPI_Send(data, 1, MPI_INT, 4, 0, MPI_COMM_WORLD), ErrorClass::rank,
        "dest is 4, which is not a rank of the communicator; it has ranks 0 to 3");
    expect_error(MPI_Send(data, 1, MPI_INT, 1, 0, MPI_COMM_SELF), ErrorClass::rank,
        "dest is 1, which is not a rank of the communicator; it has rank 0 only");
    expect_error(MPI_Send(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD), ErrorClass::rank,
                 "dest may not be MPI_ANY_SOURCE here");
    expect_error(MPI_Send(data, 1, MPI_INT, 0, -5, MPI_COMM_WORLD), ErrorClass::tag,
                 "tag is -5 but must be from 0 to 2147483647");
    expect_error(MPI_Send(data, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD), ErrorClass::tag,
                 "tag may not be MPI_ANY_TAG here");
    EXPECT_EQ(MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    EXPECT_EQ(core().pointers[3], nullptr);
}

TEST_F(DoorTest, ChecksBuffers) {
    expect_error(MPI_Send(nullptr, 2, MPI_INT, 0, 0, MPI_COMM_WORLD), ErrorClass::buffer,
        "buf is a null pointer but 2 of MPI_INT are to be there");
    expect_error(MPI_Send(MPI_IN_PLACE, 2, MPI_INT, 0, 0, MPI_COMM_WORLD), ErrorClass::buffer,
                 "buf may not be MPI_IN_PLACE here");
    EXPECT_EQ(MPI_Send(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_SUCCESS);
}

TEST_F(DoorTest, LetsStatusThrough) {
    MPI_Status status;
    EXPECT_EQ(MPI_Recv(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &status), MPI_SUCCESS);
    EXPECT_EQ(status.MPI_SOURCE, 3);
    Status seen;
    memcpy(&seen, &status, sizeof seen);
    EXPECT_EQ(seen.count(), int64_t{1} << 40);
}

TEST_F(DoorTest, LooksOnlyAtWhatIsSignificantAtThisRank) {
    int counts[4] = {1, 2, 3, 4}, places[4] = {0, 1, 3, 6};
    core().answer = ErrorClass::success;
    EXPECT_EQ(MPI_Gatherv(data, 1, MPI_INT, nullptr, nullptr, nullptr, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD),
              MPI_SUCCESS);
    EXPECT_EQ(core().pointers[3], nullptr);
    EXPECT_EQ(
        MPI_Gatherv(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, data, counts, places, MPI_INT, 1, MPI_COMM_WORLD),
        MPI_SUCCESS);
    EXPECT_EQ(core().pointers[1], nullptr);
    EXPECT_EQ(core().numbers, (std::vector<int64_t>{-7, 1, 1, 2, 3, 4, 0, 1, 3, 6}));
    MPI_Count large_counts[4] = {5, 6, 7, 8};
    MPI_Aint large_places[4] = {1, 2, 3, 4};
    EXPECT_EQ(MPI_Gatherv_c(data, 1, MPI_INT, data, large_counts, large_places, MPI_INT, 1, MPI_COMM_WORLD),
              MPI_SUCCESS);
    EXPECT_EQ(core().numbers, (std::vector<int64_t>{1, 1, 5, 6, 7, 8, 1, 2, 3, 4}));
    core().calls = 0;
    expect_error(MPI_Gatherv(data, 1, MPI_INT, data, counts, places, MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD),
                 ErrorClass::type, "recvtype is MPI_DATATYPE_NULL");
    expect_error(MPI_Gatherv(MPI_IN_PLACE, 1, MPI_INT, data, counts, places, MPI_INT, 0, MPI_COMM_WORLD),
                 ErrorClass::buffer, "sendbuf may not be MPI_IN_PLACE here");
    expect_error(MPI_Gatherv(data, 1, MPI_INT, data, counts, places, MPI_INT, 4, MPI_COMM_WORLD),
                 ErrorClass::root, "root is 4, which is not a rank of the communicator; it has ranks 0 to 3");
    expect_error(MPI_Gatherv(data, 1, MPI_INT, data, nullptr, places, MPI_INT, 1, MPI_COMM_WORLD),
                 ErrorClass::arg, "recvcounts is a null pointer");
}

TEST_F(DoorTest, ConvertsArraysOfHandles) {
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_DOUBLE};
    int counts[4] = {}, places[4] = {};
    EXPECT_EQ(MPI_Alltoallw(data, counts, places, types, data, counts, places, types, MPI_COMM_WORLD),
              MPI_SUCCESS);
    EXPECT_EQ(core().pointers,
              (std::vector<const void *>{&core().own_type, &core().int_type, &core().own_type}));
    EXPECT_EQ(
        MPI_Alltoallw(MPI_IN_PLACE, nullptr, nullptr, nullptr, data, counts, places, types, MPI_COMM_WORLD),
        MPI_SUCCESS);
    EXPECT_EQ(core().pointers[0], nullptr);
    types[2] = MPI_FLOAT;
    EXPECT_EQ(MPI_Alltoallw(data, counts, places, types, data, counts, places, types, MPI_COMM_WORLD),
              MPI_ERR_TYPE);
}

TEST_F(DoorTest, WritesRequestsBack) {
    auto handle = [](int i) {
        return reinterpret_cast<MPI_Request>(static_cast<intptr_t>(abi::request_null + 1 + i));
    };
    MPI_Request request = handle(0);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    EXPECT_EQ(core().pointers[0], &core().requests[0]);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(core().pointers[0], nullptr);
    std::vector<MPI_Request> many(70, MPI_REQUEST_NULL);
    many[68] = handle(1);
    many[69] = handle(2);
    core().answer = ErrorClass::in_status;  // the requests are written back although the call fails
    EXPECT_EQ(MPI_Waitall(70, many.data(), MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    EXPECT_EQ(core().pointers[69], &core().requests[2]);
    EXPECT_EQ(many[68], MPI_REQUEST_NULL);
    EXPECT_EQ(many[69], handle(2));
    EXPECT_EQ(MPI_Waitall(-1, many.data(), MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
    EXPECT_EQ(MPI_Waitall(2, nullptr, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    EXPECT_EQ(MPI_Wait(nullptr, MPI_STATUS_IGNORE), MPI_ERR_ARG);
}

TEST_F(DoorTest, GivesNewObjectsOnSuccessOnly) {
    MPI_Comm made = MPI_COMM_NULL;
    EXPECT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &made), MPI_SUCCESS);
    EXPECT_EQ(made, MPI_COMM_SELF);
    made = MPI_COMM_WORLD;
    EXPECT_EQ(MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 3, &made), MPI_SUCCESS);
    EXPECT_EQ(made, MPI_COMM_NULL);
    core().answer = ErrorClass::no_mem;
    made = MPI_COMM_WORLD;
    EXPECT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &made), MPI_ERR_NO_MEM);
    EXPECT_EQ(made, MPI_COMM_WORLD);
    EXPECT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, nullptr), MPI_ERR_ARG);
}

TEST_F(DoorTest, NarrowsResults) {
    MPI_Status status = {};
    int count = 0;
    core().result = 12;
    EXPECT_EQ(MPI_Get_count(&status, MPI_INT, &count), MPI_SUCCESS);
    EXPECT_EQ(count, 12);
    core().result = int64_t{INT_MAX} + 1;
    EXPECT_EQ(MPI_Get_count(&status, MPI_INT, &count), MPI_SUCCESS);
    EXPECT_EQ(count, MPI_UNDEFINED);
    MPI_Count large = 0;
    EXPECT_EQ(MPI_Get_count_c(&status, MPI_INT, &large), MPI_SUCCESS);
    EXPECT_EQ(large, int64_t{INT_MAX} + 1);
    void *buffer = nullptr;
    // The buffer is detached although its size does not fit an int.
    EXPECT_EQ(MPI_Buffer_detach(&buffer, &count), MPI_SUCCESS);
    EXPECT_EQ(count, MPI_UNDEFINED);
    core().result = 100;
    EXPECT_EQ(MPI_Buffer_detach(&buffer, &count), MPI_SUCCESS);
    EXPECT_EQ(buffer, &core());
    int position = 8;
    EXPECT_EQ(MPI_Pack(data, 1, MPI_INT, data, 100, &position, MPI_COMM_WORLD), MPI_SUCCESS);
    EXPECT_EQ(position, 12);
    EXPECT_EQ(core().numbers, (std::vector<int64_t>{100, 8}));
}

TEST_F(DoorTest, TellsTheFormWhereItMatters) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    EXPECT_EQ(MPI_Type_vector(2, 3, -4, MPI_INT, &type), MPI_SUCCESS);
    EXPECT_EQ(core().numbers, (std::vector<int64_t>{2, 3, -4, 0}));
    EXPECT_EQ(MPI_Type_vector_c(2, 3, -4, MPI_INT, &type), MPI_SUCCESS);
    EXPECT_EQ(core().numbers, (std::vector<int64_t>{2, 3, -4, 1}));
    EXPECT_EQ(type, MPI_DOUBLE);
    MPI_Datatype parts[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    int integers[1];
    MPI_Aint addresses[1];
    EXPECT_EQ(MPI_Type_get_contents(MPI_INT, 1, 1, 2, integers, addresses, parts), MPI_SUCCESS);
    EXPECT_EQ(core().numbers, (std::vector<int64_t>{1, 0, 2}));
    EXPECT_EQ(core().pointers[0], nullptr);
    EXPECT_EQ(parts[0], MPI_INT);
    EXPECT_EQ(parts[1], MPI_DATATYPE_NULL);
}

TEST_F(DoorTest, AllowsNullHandlesWhereTheStandardDoes) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    EXPECT_EQ(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length), MPI_SUCCESS);
    EXPECT_EQ(core().pointers[0], nullptr);
}

TEST_F(DoorTest, SaysWhatIsNotImplemented) {
    MPI_Win win;
    expect_error(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win),
                 ErrorClass::unsupported_operation,
                 "MPI_Win_create_dynamic is not implemented in Lanyard " LANYARD_VERSION
                 "; lanyard info --missing lists what is missing");
    int provided;
    EXPECT_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_T_ERR_NOT_SUPPORTED);
}

TEST_F(DoorTest, ConvertsHandlesAndIntegers) {
    EXPECT_EQ(MPI_Comm_toint(MPI_COMM_WORLD), 0x101);
    EXPECT_EQ(MPI_Comm_toint(MPI_COMM_NULL), 0x100);
    EXPECT_EQ(MPI_Comm_fromint(0x101), MPI_COMM_WORLD);
    EXPECT_EQ(MPI_Comm_fromint(0x209), MPI_COMM_NULL);
    EXPECT_EQ(MPI_Type_fromint(MPI_Type_toint(MPI_DATATYPE_NULL)), MPI_DATATYPE_NULL);
    EXPECT_EQ(MPI_Aint_diff(MPI_Aint_add(100, 28), 100), 28);
    EXPECT_EQ(MPI_Wtime(), 2.5);
}

MPI_Datatype given_type;
int given_length;
void add(void *in, void *inout, int *length, MPI_Datatype *type) {
    given_type = *type;
    given_length = *length;
    for (int i = 0; i < *length; ++i) static_cast<int *>(inout)[i] += static_cast<int *>(in)[i];
}
void add_large(void *, void *, MPI_Count *length, MPI_Datatype *) {
    given_length = static_cast<int>(*length / 2);
}

TEST_F(DoorTest, CallsTheProgramsOperation) {
    MPI_Op op;
    EXPECT_EQ(MPI_Op_create(add, 1, &op), MPI_SUCCESS);
    EXPECT_EQ(op, MPI_SUM);
    Callback callback = core().callback;
    EXPECT_FALSE(callback.large_count);
    int in[3] = {1, 2, 3}, inout[3] = {10, 20, 30};
    callback.door->call_op(callback.function, callback.large_count, in, inout, 3, &core().int_type);
    EXPECT_EQ(inout[2], 33);
    EXPECT_EQ(given_type, MPI_INT);
    EXPECT_EQ(given_length, 3);
    EXPECT_EQ(MPI_Op_create_c(add_large, 1, &op), MPI_SUCCESS);
    callback = core().callback;
    EXPECT_TRUE(callback.large_count);
    callback.door->call_op(callback.function, callback.large_count, in, inout, int64_t{1} << 31,
                           &core().int_type);
    EXPECT_EQ(given_length, 1 << 30);
}

int copy_value(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag) {
    *static_cast<void **>(copy) = value;
    *flag = comm == MPI_COMM_WORLD && keyval == 5 && extra == &given_length;
    return MPI_SUCCESS;
}
void change_code(MPI_Comm *comm, int *code, ...) { *code = *comm == MPI_COMM_WORLD ? *code + 1 : 0; }

TEST_F(DoorTest, CallsTheProgramsOtherFunctionsWithItsHandles) {
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    const Door &door = *core().callback.door;
    void *copy = nullptr;
    int flag = 0;
    auto function = reinterpret_cast<Function>(copy_value);
    EXPECT_EQ(door.copy_comm_attribute(function, &core().world, 5, &given_length, data, &copy, &flag),
              MPI_SUCCESS);
    EXPECT_EQ(copy, data);
    EXPECT_EQ(flag, 1);
    int code = 15;
    door.comm_error(reinterpret_cast<Function>(change_code), &core().world, &code);
    EXPECT_EQ(code, 16);
}

}  // namespace lanyard
