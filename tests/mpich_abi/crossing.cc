// Tests that values of the MPICH ABI are translated when they are passed to and from the library: names,
// ranks, codes, attributes, callbacks, and the arguments that created a datatype.
#include "mpi/comm/check.h"

#include <vector>

namespace {

// Checks the names of datatypes. If a handle were translated to another datatype, the name would be wrong.
void names() {
    struct Named {
        MPI_Datatype type;
        const char *name;
    };
    constexpr Named all[] = {{MPI_CHAR, "MPI_CHAR"},
                             {MPI_INT, "MPI_INT"},
                             {MPI_DOUBLE_INT, "MPI_DOUBLE_INT"},
                             {MPI_2INT, "MPI_2INT"},
                             {MPI_FLOAT_INT, "MPI_FLOAT_INT"},
                             {MPI_UINT64_T, "MPI_UINT64_T"},
                             {MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX"},
                             {MPI_PACKED, "MPI_PACKED"},
                             {MPI_BYTE, "MPI_BYTE"},
                             {MPI_COUNT, "MPI_COUNT"},
                             {MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT"}};
    for (const Named &each : all) {
        char name[MPI_MAX_OBJECT_NAME];
        int length;
        MPI_Type_get_name(each.type, name, &length);
        check(std::strcmp(name, each.name) == 0, std::string(name) + " is not " + each.name);
    }
    char processor[MPI_MAX_PROCESSOR_NAME + 1];
    std::memset(processor, '#', sizeof processor);
    int length = -1;
    MPI_Get_processor_name(processor, &length);
    check_equal(static_cast<size_t>(length), std::strlen(processor));
    check(length < MPI_MAX_PROCESSOR_NAME && processor[MPI_MAX_PROCESSOR_NAME] == '#');
}

void comparisons() {
    MPI_Comm copy;
    int result = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    check_equal(result, MPI_IDENT);
    MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
    check_equal(result, MPI_CONGRUENT);
    MPI_Comm_free(&copy);
    int provided = -1, status = -5;
    MPI_Query_thread(&provided);
    check(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
    if (MPI_Topo_test(MPI_COMM_WORLD, &status) == MPI_SUCCESS) check_equal(status, MPI_UNDEFINED);
}

void translated_ranks() {
    MPI_Group world, none;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 0, nullptr, &none);
    // more ranks than the front end translates in memory on the stack
    std::vector<int> from(100, MPI_PROC_NULL), to(100, 7);
    from[0] = 0;
    MPI_Group_translate_ranks(world, 100, from.data(), world, to.data());
    check_equal(to[0], 0);
    check_equal(to[99], MPI_PROC_NULL);
    from[0] = 0;
    MPI_Group_translate_ranks(world, 1, from.data(), none, to.data());
    check_equal(to[0], MPI_UNDEFINED);
    MPI_Group_free(&world);
}

// In this ABI, MPI_PROC_NULL and MPI_ANY_TAG are both -1, and MPI_ANY_SOURCE is -2.
void wildcards() {
    int out = 5, in = 0;
    MPI_Status status;
    check_equal(MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    status.MPI_ERROR = 1234;
    MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    check_equal(status.MPI_SOURCE, MPI_PROC_NULL);
    check_equal(status.MPI_TAG, MPI_ANY_TAG);
    // only calls on several requests set MPI_ERROR
    check_equal(status.MPI_ERROR, 1234);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Wait(&request, &status);
    check_equal(status.MPI_SOURCE, MPI_ANY_SOURCE);
    check_equal(status.MPI_TAG, MPI_ANY_TAG);
    MPI_Isend(&out, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &request);
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_equal(request, MPI_REQUEST_NULL);
    check(in == 5 && status.MPI_SOURCE == 0 && status.MPI_TAG == 9);
    int sum = 1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_equal(sum, size_of(MPI_COMM_WORLD));
}

// One of several receives fails. The status of each request must have its own error code, as numbered in this
// ABI.
void codes_in_statuses() {
    int out[2] = {1, 2}, small = 0, fits = 0;
    MPI_Request requests[3];
    MPI_Status statuses[3] = {};
    MPI_Irecv(&small, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Irecv(&fits, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &requests[1]);
    MPI_Isend(out, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &requests[2]);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Send(out, 2, MPI_INT, 0, 1, MPI_COMM_SELF);
    check_equal(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
    check_class(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
    check_equal(statuses[1].MPI_ERROR, MPI_SUCCESS);
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(statuses[0].MPI_ERROR, text, &length);
    check(std::strstr(text, "MPI_Waitall") || length > 10, text);
}

void added_codes() {
    int added, code, error_class, *last = nullptr, flag = 0;
    MPI_Add_error_class(&added);
    check(added > MPI_ERR_LASTCODE);
    MPI_Add_error_code(added, &code);
    MPI_Error_class(code, &error_class);
    check_equal(error_class, added);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    check(flag && *last == code);
    check_equal(MPI_Comm_call_errhandler(MPI_COMM_SELF, code), MPI_SUCCESS);
}

void attributes() {
    int flag = 0, *value = nullptr;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    check(flag && *value >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag);
    check(!flag || *value == MPI_PROC_NULL);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag);
    check(!flag || *value == MPI_ANY_SOURCE || *value == MPI_PROC_NULL || *value >= 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int standard : {501, 0})
        check_class(MPI_Comm_get_attr(MPI_COMM_WORLD, standard, &value, &flag), MPI_ERR_KEYVAL);
}

int seen_keyval = 0;
int refuse_copy(MPI_Comm, int keyval, void *, void *, void *, int *) {
    seen_keyval = keyval;
    return MPI_ERR_NO_SPACE;
}
int filled(void *, MPI_Status *status) {
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
int refuse_free(void *) { return MPI_ERR_NO_SUCH_FILE; }
int ignore_cancel(void *, int) { return MPI_SUCCESS; }
MPI_Datatype seen_type = MPI_DATATYPE_NULL;
void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    seen_type = *type;
    for (int i = 0; i < *count; ++i) static_cast<int *>(inout)[i] += static_cast<int *>(in)[i];
}

// The program's functions must get this ABI's values, and their return codes must reach the caller of the MPI
// function.
void callbacks() {
    int keyval, value = 1;
    MPI_Comm comm, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr);
    MPI_Comm_set_attr(comm, keyval, &value);
    check_class(MPI_Comm_dup(comm, &copy), MPI_ERR_NO_SPACE);
    check_equal(seen_keyval, keyval);
    MPI_Comm_delete_attr(comm, keyval);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&keyval);

    MPI_Op op;
    int one = 1, sum = 0;
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    check_equal(sum, size_of(MPI_COMM_WORLD));
    if (size_of(MPI_COMM_WORLD) > 1) check(seen_type == MPI_INT || rank_in(MPI_COMM_WORLD) > 0);
    MPI_Op_free(&op);
    check_equal(op, MPI_OP_NULL);
}

void generalised_requests() {
    MPI_Request request;
    MPI_Status status;
    int code = MPI_Grequest_start(filled, refuse_free, ignore_cancel, nullptr, &request),
        error_class = MPI_SUCCESS, count = 0;
    MPI_Error_class(code, &error_class);
    if (error_class == MPI_ERR_UNSUPPORTED_OPERATION) return;
    MPI_Grequest_complete(request);
    check_class(MPI_Wait(&request, &status), MPI_ERR_NO_SUCH_FILE);
    MPI_Get_count(&status, MPI_INT, &count);
    check(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && count == 3);
}

void contents() {
    int sizes[] = {4, 6}, distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, processes[] = {1, 1}, starts[] = {0, 1},
        parts[] = {2, 3};
    MPI_Datatype array, part;
    check_equal(MPI_Type_create_darray(1, 0, 2, sizes, distributions, arguments, processes, MPI_ORDER_FORTRAN,
                                       MPI_INT, &array),
                MPI_SUCCESS);
    check_equal(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &part), MPI_SUCCESS);
    int integers[20], integer_count, address_count, type_count, combiner;
    MPI_Datatype types[1];
    MPI_Type_get_envelope(array, &integer_count, &address_count, &type_count, &combiner);
    check_equal(combiner, MPI_COMBINER_DARRAY);
    check_equal(integer_count, 12);
    MPI_Type_get_contents(array, 20, 0, 1, integers, nullptr, types);
    int wanted[] = {1, 0, 2, 4, 6, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                    MPI_DISTRIBUTE_DFLT_DARG, 2, 1, 1, MPI_ORDER_FORTRAN};
    check(std::memcmp(integers, wanted, sizeof wanted) == 0,
          "the integers of the distributed array are others");
    check_equal(types[0], MPI_INT);
    MPI_Type_get_envelope(part, &integer_count, &address_count, &type_count, &combiner);
    check_equal(combiner, MPI_COMBINER_SUBARRAY);
    MPI_Type_get_contents(part, 20, 0, 1, integers, nullptr, types);
    check_equal(integers[integer_count - 1], MPI_ORDER_C);
    MPI_Type_free(&array);
    MPI_Type_free(&part);
}

// In this ABI, the maximum length of a key is shorter than in the standard's. A key of the maximum length
// must be returned complete.
void long_texts() {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Info info;
    MPI_Info_create(&info);
    std::string key(MPI_MAX_INFO_KEY - 1, 'k');
    check_equal(MPI_Info_set(info, key.c_str(), "value"), MPI_SUCCESS);
    char got[MPI_MAX_INFO_KEY];
    MPI_Info_get_nthkey(info, 0, got);
    check(got == key);
    key += 'k';
    check_class(MPI_Info_set(info, key.c_str(), "value"), MPI_ERR_INFO_KEY);
    int length = 0, flag = 1;
    check_class(MPI_Info_get_valuelen(info, key.c_str(), &length, &flag), MPI_ERR_INFO_KEY);
    MPI_Info_free(&info);
}

void errors() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int data = 0;
    check_class(MPI_Send(&data, 1, MPI_INT, size_of(MPI_COMM_WORLD), 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    // -4 is MPI_ROOT in the standard's ABI, but not in this one.
    check_class(MPI_Send(&data, 1, MPI_INT, -4, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    check_class(MPI_Send(&data, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    check_class(MPI_Send(&data, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG);
    check_class(MPI_Send(&data, 1, MPI_COMM_WORLD, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    check_class(MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_INT), MPI_ERR_COMM);
    check_class(MPI_Send(&data, 1, static_cast<MPI_Datatype>(0xcc00ffff), 0, 0, MPI_COMM_WORLD),
                MPI_ERR_TYPE);
    MPI_Request bad = 0x12345;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check_class(MPI_Wait(&bad, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_NULL), text, &length);
    check(std::strstr(text, "comm is MPI_COMM_NULL"), text);
    MPI_Error_string(MPI_Send(&data, 1, MPI_INT, 0, 0, static_cast<MPI_Comm>(0x101)), text, &length);
    check(std::strstr(text, "comm is no handle of the ABI of MPICH and Intel MPI"), text);
    int sum = 0;
    auto standard_sum = static_cast<MPI_Op>(0x21);
    MPI_Error_string(MPI_Allreduce(&data, &sum, 1, MPI_INT, standard_sum, MPI_COMM_WORLD), text, &length);
    check(std::strstr(text, "op is no handle of the ABI of MPICH and Intel MPI"), text);
}

}  // namespace

int main(int argc, char **argv) {
    int provided = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_equal(provided, MPI_THREAD_MULTIPLE);
    names();
    comparisons();
    translated_ranks();
    wildcards();
    codes_in_statuses();
    added_codes();
    attributes();
    callbacks();
    generalised_requests();
    contents();
    long_texts();
    errors();
    MPI_Finalize();
}
