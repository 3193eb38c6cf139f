// Tests an ABI whose handles are addresses of data objects, with its own status and numbers. This file has a
// part of the front end and a program that uses it, on one to three ranks. The functions in doors/functions
// must not depend on properties that only the other two ABIs have.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <source_location>
#include <string>
#include <vector>

#include "doors/entry_point.h"
#include "doors/functions/attributes.h"
#include "doors/functions/collectives.h"
#include "doors/functions/communicators.h"
#include "doors/functions/datatypes.h"
#include "doors/functions/errors.h"
#include "doors/functions/groups.h"
#include "doors/functions/operations.h"
#include "doors/functions/point_to_point.h"
#include "doors/functions/requests.h"
#include "doors/functions/startup.h"
#include "third_abi/abi.h"

using namespace third_abi;
namespace doors = lanyard::doors;

extern "C" {

using Startup = doors::StartupFunctions<Abi>;
LANYARD_ENTRY(MPI_Init, int, (int *argc, char ***argv), Startup::init(entry, argc, argv));
LANYARD_ENTRY(MPI_Finalize, int, (), Startup::finalize(entry));
LANYARD_ENTRY(MPI_Abort, int, (MPI_Comm comm, int errorcode), Startup::abort(entry, comm, errorcode));

using Communicators = doors::CommunicatorsFunctions<Abi>;
LANYARD_ENTRY(MPI_Comm_rank, int, (MPI_Comm comm, int *rank), Communicators::comm_rank(entry, comm, rank));
LANYARD_ENTRY(MPI_Comm_size, int, (MPI_Comm comm, int *size), Communicators::comm_size(entry, comm, size));
LANYARD_ENTRY(MPI_Comm_dup, int, (MPI_Comm comm, MPI_Comm *newcomm),
    Communicators::comm_dup(entry, comm, newcomm));
LANYARD_ENTRY(MPI_Comm_free, int, (MPI_Comm *comm), Communicators::comm_free(entry, comm));
LANYARD_ENTRY(MPI_Comm_split, int, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm),
    Communicators::comm_split(entry, comm, color, key, newcomm));
LANYARD_ENTRY(MPI_Comm_compare, int, (MPI_Comm comm1, MPI_Comm comm2, int *result),
    Communicators::comm_compare(entry, comm1, comm2, result));
LANYARD_ENTRY(MPI_Comm_group, int, (MPI_Comm comm, MPI_Group *group),
    Communicators::comm_group(entry, comm, group));
LANYARD_ENTRY(MPI_Comm_get_name, int, (MPI_Comm comm, char *comm_name, int *resultlen),
    Communicators::comm_get_name(entry, comm, comm_name, resultlen));
LANYARD_ENTRY(MPI_Comm_set_name, int, (MPI_Comm comm, const char *comm_name),
    Communicators::comm_set_name(entry, comm, comm_name));

using Groups = doors::GroupsFunctions<Abi>;
LANYARD_ENTRY(MPI_Group_translate_ranks, int,
    (MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]),
    Groups::group_translate_ranks(entry, group1, n, ranks1, group2, ranks2));
LANYARD_ENTRY(MPI_Group_free, int, (MPI_Group *group), Groups::group_free(entry, group));

using PointToPoint = doors::PointToPointFunctions<Abi>;
LANYARD_ENTRY(MPI_Send, int,
    (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm),
    PointToPoint::send<false>(entry, buf, count, datatype, dest, tag, comm));
LANYARD_ENTRY(MPI_Send_c, int,
    (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm),
    PointToPoint::send<true>(entry, buf, count, datatype, dest, tag, comm));
LANYARD_ENTRY(MPI_Isend, int,
    (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
        MPI_Request *request),
    PointToPoint::isend<false>(entry, buf, count, datatype, dest, tag, comm, request));
LANYARD_ENTRY(MPI_Recv, int, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Status *status), PointToPoint::recv<false>(entry, buf, count, datatype, source, tag, comm, status));
LANYARD_ENTRY(MPI_Irecv, int,
    (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request),
    PointToPoint::irecv<false>(entry, buf, count, datatype, source, tag, comm, request));

using Requests = doors::RequestsFunctions<Abi>;
LANYARD_ENTRY(MPI_Wait, int, (MPI_Request *request, MPI_Status *status),
    Requests::wait(entry, request, status));
LANYARD_ENTRY(MPI_Waitall, int, (int count, MPI_Request requests[], MPI_Status *statuses),
    Requests::waitall(entry, count, requests, statuses));
LANYARD_ENTRY(MPI_Get_count, int, (const MPI_Status *status, MPI_Datatype datatype, int *count),
    Requests::get_count<false>(entry, status, datatype, count));
LANYARD_ENTRY(MPI_Get_count_c, int, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count),
    Requests::get_count<true>(entry, status, datatype, count));
LANYARD_ENTRY(MPI_Test_cancelled, int, (const MPI_Status *status, int *flag),
    Requests::test_cancelled(entry, status, flag));
LANYARD_ENTRY(MPI_Status_set_elements, int, (MPI_Status *status, MPI_Datatype datatype, int count),
    Requests::status_set_elements<false>(entry, status, datatype, count));
LANYARD_ENTRY(MPI_Status_set_cancelled, int, (MPI_Status *status, int flag),
    Requests::status_set_cancelled(entry, status, flag));
LANYARD_ENTRY(MPI_Grequest_start, int,
    (MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
        MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request),
    Requests::grequest_start(entry, query_fn, free_fn, cancel_fn, extra_state, request));
LANYARD_ENTRY(MPI_Grequest_complete, int, (MPI_Request request), Requests::grequest_complete(entry, request));

using Datatypes = doors::DatatypesFunctions<Abi>;
LANYARD_ENTRY(MPI_Type_vector, int,
    (int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype),
    Datatypes::type_vector<false>(entry, count, blocklength, stride, oldtype, newtype));
LANYARD_ENTRY(MPI_Type_create_struct, int, (int count, const int lengths[], const MPI_Aint displacements[],
    const MPI_Datatype types[], MPI_Datatype *newtype),
    Datatypes::type_create_struct<false>(entry, count, lengths, displacements, types, newtype));
LANYARD_ENTRY(MPI_Type_commit, int, (MPI_Datatype *datatype), Datatypes::type_commit(entry, datatype));
LANYARD_ENTRY(MPI_Type_free, int, (MPI_Datatype *datatype), Datatypes::type_free(entry, datatype));
LANYARD_ENTRY(MPI_Type_size, int, (MPI_Datatype datatype, int *size),
    Datatypes::type_size<false>(entry, datatype, size));
LANYARD_ENTRY(MPI_Type_get_name, int, (MPI_Datatype datatype, char *name, int *length),
    Datatypes::type_get_name(entry, datatype, name, length));
LANYARD_ENTRY(MPI_Type_get_envelope, int,
    (MPI_Datatype datatype, int *integers, int *addresses, int *datatypes, int *combiner),
    Datatypes::type_get_envelope(entry, datatype, integers, addresses, datatypes, combiner));
LANYARD_ENTRY(MPI_Type_get_contents, int,
    (MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int integers[],
        MPI_Aint addresses[], MPI_Datatype datatypes[]),
    Datatypes::type_get_contents(
        entry, datatype, max_integers, max_addresses, max_datatypes, integers, addresses, datatypes));

using Operations = doors::OperationsFunctions<Abi>;
LANYARD_ENTRY(MPI_Op_create, int, (MPI_User_function *user_fn, int commute, MPI_Op *op),
    Operations::op_create<false>(entry, user_fn, commute, op));
LANYARD_ENTRY(MPI_Op_create_c, int, (MPI_User_function_c *user_fn, int commute, MPI_Op *op),
    Operations::op_create<true>(entry, user_fn, commute, op));
LANYARD_ENTRY(MPI_Op_free, int, (MPI_Op *op), Operations::op_free(entry, op));

using Collectives = doors::CollectivesFunctions<Abi>;
LANYARD_ENTRY(MPI_Allreduce, int,
    (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
    Collectives::allreduce<false>(entry, sendbuf, recvbuf, count, datatype, op, comm));

using Attributes = doors::AttributesFunctions<Abi>;
LANYARD_ENTRY(MPI_Comm_create_keyval, int,
    (MPI_Comm_copy_attr_function *copy_fn, MPI_Comm_delete_attr_function *delete_fn, int *keyval,
        void *extra_state),
    Attributes::comm_create_keyval(entry, copy_fn, delete_fn, keyval, extra_state));
LANYARD_ENTRY(MPI_Comm_free_keyval, int, (int *keyval), Attributes::comm_free_keyval(entry, keyval));
LANYARD_ENTRY(MPI_Comm_set_attr, int, (MPI_Comm comm, int keyval, void *value),
    Attributes::comm_set_attr(entry, comm, keyval, value));
LANYARD_ENTRY(MPI_Comm_get_attr, int, (MPI_Comm comm, int keyval, void *value, int *flag),
    Attributes::comm_get_attr(entry, comm, keyval, value, flag));

using Errors = doors::ErrorsFunctions<Abi>;
LANYARD_ENTRY(MPI_Comm_create_errhandler, int,
    (MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler),
    Errors::comm_create_errhandler(entry, function, errhandler));
LANYARD_ENTRY(MPI_Comm_set_errhandler, int, (MPI_Comm comm, MPI_Errhandler errhandler),
    Errors::comm_set_errhandler(entry, comm, errhandler));
LANYARD_ENTRY(MPI_Comm_get_errhandler, int, (MPI_Comm comm, MPI_Errhandler *errhandler),
    Errors::comm_get_errhandler(entry, comm, errhandler));
LANYARD_ENTRY(MPI_Errhandler_free, int, (MPI_Errhandler *errhandler),
    Errors::errhandler_free(entry, errhandler));
LANYARD_ENTRY(MPI_Error_class, int, (int errorcode, int *errorclass),
    Errors::error_class(entry, errorcode, errorclass));
LANYARD_ENTRY(MPI_Error_string, int, (int errorcode, char *string, int *length),
    Errors::error_string(entry, errorcode, string, length));

}  // extern "C"

namespace {

int rank = -1, size = -1;

void check(bool holds, const std::source_location &where = std::source_location::current()) {
    if (holds) return;
    std::fprintf(stderr, "rank %d, %s:%u: wrong\n", rank, where.file_name(),
                 static_cast<unsigned>(where.line()));
    MPI_Abort(&comm_world, 1);
    std::exit(1);
}
void check_class(int code, int wanted, const std::source_location &where = std::source_location::current()) {
    int error_class = -1;
    check(MPI_Error_class(code, &error_class) == 0, where);
    check(error_class == wanted, where);
}

// Sends a message around the ring, with blocking calls and with requests. The statuses have the form of this
// ABI.
void messages(MPI_Comm comm) {
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, in[4] = {}, out[4] = {rank, 2, 3, 4};
    MPI_Request requests[3] = {&request_null, nullptr, nullptr};
    MPI_Status statuses[3];
    std::memset(statuses, 0x5a, sizeof statuses);
    check(MPI_Irecv(in, 4, &type_int, any_source, any_tag, comm, &requests[1]) == 0);
    check(MPI_Isend(out, 3, &type_int, next, 7, comm, &requests[2]) == 0);
    check(MPI_Waitall(3, requests, statuses) == 0);
    for (MPI_Request request : requests) check(request == &request_null);
    check(in[0] == previous && in[2] == 3 && in[3] == 0);
    check(statuses[1].MPI_SOURCE == previous && statuses[1].MPI_TAG == 7 && statuses[1].count == 12);
    check(statuses[0].MPI_SOURCE == any_source && statuses[0].MPI_TAG == any_tag && statuses[0].count == 0);
    int count = -1, flag = -1;
    MPI_Count large = -1;
    check(MPI_Get_count(&statuses[1], &type_int, &count) == 0 && count == 3);
    check(MPI_Get_count_c(&statuses[1], &type_byte, &large) == 0 && large == 12);
    check(MPI_Get_count(&statuses[1], &type_double, &count) == 0 && count == undefined);
    check(MPI_Test_cancelled(&statuses[1], &flag) == 0 && flag == 0);

    MPI_Request request;
    check(MPI_Irecv(in, 1, &type_double, previous, 8, comm, &request) == 0);
    double number = rank + 0.5;
    check(MPI_Send_c(&number, 1, &type_double, next, 8, comm) == 0);
    check(MPI_Wait(&request, status_ignore) == 0 && request == &request_null);
    double got;
    std::memcpy(&got, in, sizeof got);
    check(got == previous + 0.5);

    check(MPI_Send(out, 1, &datatype_null, proc_null, 0, comm) == 0);
    int error_before = statuses[2].MPI_ERROR = 0x5a5a;
    check(MPI_Recv(in, 1, &type_int, proc_null, 0, comm, &statuses[2]) == 0);
    check(statuses[2].MPI_SOURCE == proc_null && statuses[2].MPI_TAG == any_tag &&
          statuses[2].MPI_ERROR == error_before);
}

void datatypes(MPI_Comm comm) {
    MPI_Datatype column, both;
    check(MPI_Type_vector(3, 1, 2, &type_int, &column) == 0);
    check(MPI_Type_commit(&column) == 0);
    MPI_Datatype parts[2] = {column, &type_double};
    int lengths[2] = {1, 2}, integers = -1, addresses = -1, types = -1, combiner = -1, bytes = -1;
    MPI_Aint displacements[2] = {0, 32};
    check(MPI_Type_create_struct(2, lengths, displacements, parts, &both) == 0);
    check(MPI_Type_size(both, &bytes) == 0 && bytes == 28);
    check(MPI_Type_free(&both) == 0 && both == &datatype_null);
    check(MPI_Type_get_envelope(column, &integers, &addresses, &types, &combiner) == 0);
    check(integers == 3 && addresses == 0 && types == 1 && combiner == combiner_vector);
    int values[3];
    MPI_Aint none;
    MPI_Datatype of;
    check(MPI_Type_get_contents(column, 3, 0, 1, values, &none, &of) == 0 && values[2] == 2 &&
          of == &type_int);

    int grid[6] = {1, 2, 3, 4, 5, 6}, in[6] = {};
    MPI_Request request;
    check(MPI_Irecv(in, 1, column, rank, 0, comm, &request) == 0);
    check(MPI_Send(grid, 1, column, rank, 0, comm) == 0);
    check(MPI_Wait(&request, status_ignore) == 0);
    check(in[0] == 1 && in[1] == 0 && in[2] == 3 && in[4] == 5);
    check(MPI_Type_free(&column) == 0 && column == &datatype_null);
    char name[max_object_name + 1];
    int length = -1;
    check(MPI_Type_get_name(&type_double, name, &length) == 0 && std::string(name) == "MPI_DOUBLE" &&
          length == 10);
}

void first_of_two(void *in, void *inout, int *count, MPI_Datatype *datatype) {
    if (*datatype == &type_int) std::memcpy(inout, in, static_cast<size_t>(*count) * sizeof(int));
}
void sum_of_large(void *in, void *inout, MPI_Count *count, MPI_Datatype *datatype) {
    for (MPI_Count i = 0; i < *count && *datatype == &type_int; ++i)
        static_cast<int *>(inout)[i] += static_cast<int *>(in)[i];
}

void reductions(MPI_Comm comm) {
    int number = rank + 1, result = -1;
    check(MPI_Allreduce(&number, &result, 1, &type_int, &op_sum, comm) == 0 &&
          result == size * (size + 1) / 2);
    check(MPI_Allreduce(in_place, &number, 1, &type_int, &op_max, comm) == 0 && number == size);
    number = rank + 1;
    MPI_Op own = &op_null, large = &op_null;
    check(MPI_Op_create(first_of_two, 0, &own) == 0 && MPI_Op_create_c(sum_of_large, 1, &large) == 0);
    check(MPI_Allreduce(&number, &result, 1, &type_int, own, comm) == 0 && result == 1);
    check(MPI_Allreduce(&number, &result, 1, &type_int, large, comm) == 0 && result == size * (size + 1) / 2);
    check(MPI_Op_free(&own) == 0 && own == &op_null && MPI_Op_free(&large) == 0);
}

int copies = 0, deletions = 0;
int copy_attribute(MPI_Comm comm, int, void *, void *value, void *copy, int *flag) {
    ++copies;
    *static_cast<void **>(copy) = value;
    *flag = comm == &comm_world;
    return 0;
}
int delete_attribute(MPI_Comm, int, void *, void *) {
    ++deletions;
    return 0;
}

void attributes() {
    int keyval, flag = -1, *found = nullptr;
    check(MPI_Comm_get_attr(&comm_world, tag_ub, &found, &flag) == 0 && flag == 1 && *found > 1000);
    check(MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, nullptr) == 0);
    check(MPI_Comm_set_attr(&comm_world, keyval, &size) == 0);
    MPI_Comm copy;
    check(MPI_Comm_dup(&comm_world, &copy) == 0 && copies == 1);
    check(MPI_Comm_get_attr(copy, keyval, &found, &flag) == 0 && flag == 1 && found == &size);
    check(MPI_Comm_free(&copy) == 0 && copy == &comm_null && deletions == 1);
    check(MPI_Comm_free_keyval(&keyval) == 0);
}

MPI_Comm told_comm = nullptr;
int told_code = -1;
void handler(MPI_Comm *comm, int *code, ...) {
    told_comm = *comm;
    told_code = *code;
}

void errors(MPI_Comm comm) {
    MPI_Errhandler own, found;
    int data[2] = {};
    check(MPI_Comm_set_errhandler(&comm_world, &errors_return) == 0);
    check(MPI_Comm_get_errhandler(&comm_world, &found) == 0 && found == &errors_return);
    check_class(MPI_Send(data, 1, &type_int, size, 0, &comm_world), err_rank);
    check_class(MPI_Send(data, -1, &type_int, 0, 0, &comm_world), err_count);
    check_class(MPI_Send(data, 1, &datatype_null, 0, 0, &comm_world), err_type);
    check_class(MPI_Send(data, 1, reinterpret_cast<MPI_Datatype>(&op_sum), 0, 0, &comm_world), err_type);
    check(MPI_Comm_create_errhandler(handler, &own) == 0);
    check(MPI_Comm_set_errhandler(comm, own) == 0 && MPI_Errhandler_free(&own) == 0 &&
          own == &errhandler_null);
    check_class(MPI_Send(data, 1, &type_int, -5, 0, comm), err_rank);
    check(told_comm == comm);
    check_class(told_code, err_rank);
    char text[1024];
    int length = 0;
    check(MPI_Error_string(told_code, text, &length) == 0 && std::strstr(text, "dest is -5"));

    // If a message is too long, the wait for the receive's request must fail.
    MPI_Request request;
    MPI_Status status;
    check(MPI_Irecv(data, 1, &type_int, rank, 0, &comm_world, &request) == 0);
    check(MPI_Send(data, 2, &type_int, rank, 0, &comm_world) == 0);
    check_class(MPI_Wait(&request, &status), err_truncate);

    // Values that are not handles of communicators: zero, a value of the standard's header, and the address
    // of a predefined datatype.
    check(MPI_Comm_set_errhandler(&comm_self, &errors_return) == 0);
    int none = -1;
    for (uintptr_t bits : {uintptr_t{0}, uintptr_t{0x101}, reinterpret_cast<uintptr_t>(&type_int)})
        check_class(MPI_Comm_rank(reinterpret_cast<MPI_Comm>(bits), &none), err_comm);
    check_class(MPI_Comm_rank(&comm_null, &none), err_comm);
}

int query(void *extra_state, MPI_Status *status) {
    status->MPI_SOURCE = any_source;
    status->MPI_TAG = *static_cast<int *>(extra_state);
    check(MPI_Status_set_elements(status, &type_int, 5) == 0 && status->count == 20);
    check(MPI_Status_set_cancelled(status, 1) == 0 && status->cancelled == 1);
    return 0;
}
int nothing_to_free(void *) { return 0; }
int cannot_cancel(void *, int) { return 0; }

void general_requests() {
    int tag = 9, count = -1;
    MPI_Request request;
    MPI_Status status;
    check(MPI_Grequest_start(query, nothing_to_free, cannot_cancel, &tag, &request) == 0);
    check(MPI_Grequest_complete(request) == 0);
    check(MPI_Wait(&request, &status) == 0 && request == &request_null);
    check(status.MPI_TAG == 9 && status.MPI_SOURCE == any_source && status.cancelled == 1);
    check(MPI_Get_count(&status, &type_int, &count) == 0 && count == 5);
}

void communicators() {
    MPI_Comm copy, half;
    int result = -1, length = -1;
    check(MPI_Comm_dup(&comm_world, &copy) == 0);
    check(MPI_Comm_compare(copy, &comm_world, &result) == 0 && result == congruent);
    check(MPI_Comm_compare(&comm_world, &comm_world, &result) == 0 && result == ident);
    char name[max_object_name + 8];
    std::memset(name, '#', sizeof name);
    check(MPI_Comm_set_name(copy, "a name that is longer than this ABI has room for") == 0);
    check(MPI_Comm_get_name(copy, name, &length) == 0 && length == max_object_name - 1);
    check(std::string(name) == "a name that is longer t" && name[max_object_name] == '#');
    check(MPI_Comm_split(copy, rank == 0 ? 1 : undefined, 0, &half) == 0);
    check((rank == 0) == (half != &comm_null));
    if (rank == 0) check(MPI_Comm_free(&half) == 0 && half == &comm_null);
    MPI_Group group;
    // more ranks than the front end translates in memory on the stack
    std::vector<int> from(100, proc_null), to(100, 7);
    from[0] = rank;
    check(MPI_Comm_group(copy, &group) == 0);
    check(MPI_Group_translate_ranks(group, 100, from.data(), group, to.data()) == 0);
    check(to[0] == rank && to[1] == proc_null && to[99] == proc_null);
    check(MPI_Group_translate_ranks(group, 1, from.data(), &group_empty, to.data()) == 0 &&
          to[0] == undefined);
    check(MPI_Group_free(&group) == 0 && group == &group_null);
    messages(copy);
    datatypes(copy);
    reductions(copy);
    errors(copy);
    check(MPI_Comm_free(&copy) == 0 && copy == &comm_null);
}

}  // namespace

int main(int argc, char **argv) {
    check(MPI_Init(&argc, &argv) == 0);
    check(MPI_Comm_rank(&comm_world, &rank) == 0 && MPI_Comm_size(&comm_world, &size) == 0);
    communicators();
    messages(&comm_world);
    attributes();
    general_requests();
    check(MPI_Finalize() == 0);
}
