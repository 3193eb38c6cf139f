// Functions of the program throw exceptions: error handlers, reduction operations, attribute functions and
// the functions of generalised requests. The exception must leave the call that would have reported an error.
// The other ranks, the object and the library must remain usable.
#include "errors/thrown.h"

#include <exception>
#include <utility>
#include <vector>

namespace {

int throwing = 0;  // the number in the exceptions; if 0, the functions do not throw
int called = 0;    // number of calls since `throwing` was set
void arm(int number) { throwing = number, called = 0; }
void pass() {
    ++called;
    if (throwing) throw Thrown(throwing);
}

template <class Object>
void handler(Object *, int *, ...) {
    pass();
}
void freeing_handler(MPI_Comm *comm, int *, ...) {
    MPI_Comm_free(comm);
    pass();
}
int nobody() { return size_of(MPI_COMM_WORLD) + 5; }

MPI_Errhandler set_handler(MPI_Comm comm, MPI_Comm_errhandler_function *function) {
    MPI_Errhandler made;
    MPI_Comm_create_errhandler(function, &made);
    MPI_Comm_set_errhandler(comm, made);
    return made;
}

// Waits for more requests than an entry point keeps on its stack. One of the requests fails.
void wait_for_many(MPI_Comm comm) {
    constexpr int many = 200;
    int sent[2] = {1, 2}, place[many];
    std::vector<MPI_Request> requests(many);
    std::vector<MPI_Status> statuses(many);
    int me = rank_in(comm);
    for (int i = 0; i < many; ++i)
        MPI_Irecv(&place[i], 1, MPI_INT, me, i, comm, &requests[static_cast<size_t>(i)]);
    for (int i = 0; i < many; ++i) MPI_Send(sent, i == 77 ? 2 : 1, MPI_INT, me, i, comm);
    must_throw(throwing, [&] { MPI_Waitall(many, requests.data(), statuses.data()); });
    for (int i = 0; i < many; ++i) {
        check(requests[static_cast<size_t>(i)] == MPI_REQUEST_NULL);
        check_class(statuses[static_cast<size_t>(i)].MPI_ERROR, i == 77 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    }
}

void error_handlers() {
    int number = 0;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Errhandler made = set_handler(comm, handler<MPI_Comm>);
    for (int i = 1; i <= 10; ++i) {
        arm(i);
        must_throw(i, [&] { MPI_Send(&number, 1, MPI_INT, nobody(), 0, comm); });
        must_throw(i, [&] { MPI_Recv(&number, 1, MPI_INT, nobody(), 0, comm, MPI_STATUS_IGNORE); });
        must_throw(i, [&] { MPI_Allreduce(&i, &number, 1, MPI_INT, MPI_OP_NULL, comm); });
        must_throw(i, [&] { MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER); });
        use(comm);
    }
    wait_for_many(comm);
    use(comm);
    check(!throws(0, [&] {
        arm(0);
        MPI_Send(&number, 1, MPI_INT, nobody(), 0, comm);
    }));
    MPI_Errhandler freeing = set_handler(comm, freeing_handler);
    arm(11);
    must_throw(11, [&] { MPI_Send(&number, 1, MPI_INT, nobody(), 0, comm); });
    MPI_Errhandler_free(&made);
    MPI_Errhandler_free(&freeing);
}

void handlers_of_other_objects() {
    arm(20);
    MPI_Errhandler of_session, of_file;
    MPI_Session session;
    MPI_Session_create_errhandler(handler<MPI_Session>, &of_session);
    check_equal(MPI_Session_init(MPI_INFO_NULL, of_session, &session), MPI_SUCCESS);
    MPI_Group group;
    must_throw(20, [&] { MPI_Group_from_session_pset(session, "no such set", &group); });
    must_throw(20, [&] { MPI_Session_call_errhandler(session, MPI_ERR_OTHER); });
    arm(0);
    check_equal(MPI_Session_finalize(&session), MPI_SUCCESS);
    MPI_Errhandler_free(&of_session);
    MPI_File_create_errhandler(handler<MPI_File>, &of_file);
    MPI_File_set_errhandler(MPI_FILE_NULL, of_file);
    arm(21);
    must_throw(21, [&] { MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO); });
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&of_file);
}

void add(void *in, void *inout, int *count, MPI_Datatype *) {
    pass();
    for (int i = 0; i < *count; ++i) static_cast<int *>(inout)[i] += static_cast<int *>(in)[i];
}

// Runs a reduction. It must throw on exactly the ranks on which the user-defined function is called. The next
// reduction must not be affected.
template <class Reduce>
void reduction(int number, Reduce reduce) {
    arm(number);
    bool threw = throws(number, reduce);
    check_equal(threw, called > 0);
    check(called <= 1, "the function was called again after it had thrown");
    arm(0);
    check(!throws(0, reduce));
}

struct Sums {
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Op op;
    int ranks = size_of(comm), count;
    std::vector<int> mine, sums;

    Sums(MPI_Op o, int length)
        : op(o),
          count(length),
          mine(static_cast<size_t>(length * ranks), rank_in(comm) + 1),
          sums(static_cast<size_t>(length * ranks)) {}
    int total() const { return ranks * (ranks + 1) / 2; }
    // Checks a reduction whose result is the total.
    void verify(bool everywhere = true) const {
        if (!throwing && everywhere)
            for (int i = 0; i < count; ++i) check_equal(sums[static_cast<size_t>(i)], total());
    }
};

void blocking(MPI_Op op, int count) {
    Sums s(op, count);
    reduction(30,
              [&] { MPI_Allreduce(s.mine.data(), s.sums.data(), count, MPI_INT, op, s.comm), s.verify(); });
    reduction(31, [&] {
        MPI_Reduce(s.mine.data(), s.sums.data(), count, MPI_INT, op, 0, s.comm),
            s.verify(rank_in(s.comm) == 0);
    });
    reduction(32, [&] {
        MPI_Scan(s.mine.data(), s.sums.data(), count, MPI_INT, op, s.comm),
            s.verify(rank_in(s.comm) == s.ranks - 1);
    });
    reduction(33, [&] { MPI_Exscan(s.mine.data(), s.sums.data(), count, MPI_INT, op, s.comm); });
    reduction(34, [&] {
        MPI_Reduce_scatter_block(s.mine.data(), s.sums.data(), count, MPI_INT, op, s.comm), s.verify();
    });
    reduction(35, [&] {
        std::vector<int> result = s.mine;
        MPI_Reduce_local(s.mine.data(), result.data(), count, MPI_INT, op);
        check_equal(result[0], 2 * s.mine[0]);
    });
    use(s.comm);
}

// Nonblocking reductions: only the call that completes the operation must throw.
void nonblocking(MPI_Op op, int count) {
    Sums s(op, count);
    MPI_Request request;
    auto begin = [&] { MPI_Iallreduce(s.mine.data(), s.sums.data(), count, MPI_INT, op, s.comm, &request); };
    auto complete = [&] {
        check(request == MPI_REQUEST_NULL);
        s.verify();
    };
    reduction(40, [&] {
        begin();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        complete();
    });
    check(request == MPI_REQUEST_NULL);
    reduction(41, [&] {
        begin();
        MPI_Barrier(MPI_COMM_WORLD);  // may run the function
        for (int done = 0; !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        complete();
    });
    reduction(42, [&] {
        MPI_Request both[2];
        MPI_Status statuses[2];
        MPI_Ibarrier(MPI_COMM_WORLD, &both[0]);
        begin();
        both[1] = std::exchange(request, MPI_REQUEST_NULL);
        try {
            MPI_Waitall(2, both, statuses);
        } catch (const Thrown &) {
            check_class(statuses[0].MPI_ERROR, MPI_SUCCESS);
            check_class(statuses[1].MPI_ERROR, MPI_ERR_OTHER);
            check(both[0] == MPI_REQUEST_NULL && both[1] == MPI_REQUEST_NULL);
            throw;
        }
        complete();
    });
}

// The request is freed before the operation is complete, so no call can throw the exception.
void of_a_freed_request() {
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    Sums s(op, 300);
    MPI_Request request;
    arm(43);
    MPI_Iallreduce(s.mine.data(), s.sums.data(), 300, MPI_INT, op, s.comm, &request);
    MPI_Request_free(&request);
    MPI_Op_free(&op);
    MPI_Barrier(MPI_COMM_WORLD);
    use(s.comm);
    arm(0);
}

void persistent(MPI_Op op, int count) {
    Sums s(op, count);
    MPI_Request request;
    MPI_Allreduce_init(s.mine.data(), s.sums.data(), count, MPI_INT, op, s.comm, MPI_INFO_NULL, &request);
    for (int round = 0; round < 3; ++round)
        reduction(50 + round, [&] {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            s.verify();
        });
    MPI_Request_free(&request);
}

void operations() {
    for (int commutes : {0, 1}) {
        MPI_Op op;
        MPI_Op_create(add, commutes, &op);
        for (int count : {1, 300, 60'000}) {
            blocking(op, count);
            nonblocking(op, count);
            persistent(op, count);
        }
        MPI_Op_free(&op);
    }
}

int copy_throws = 0, delete_throws = 0;
template <class Object>
int copy(Object, int, void *, void *value, void *copied, int *flag) {
    if (copy_throws) throw Thrown(copy_throws);
    *static_cast<void **>(copied) = value;
    *flag = 1;
    return MPI_SUCCESS;
}
template <class Object>
int remove(Object, int, void *, void *) {
    if (delete_throws) throw Thrown(delete_throws);
    return MPI_SUCCESS;
}

bool has(MPI_Comm comm, int keyval) {
    void *value;
    int flag;
    MPI_Comm_get_attr(comm, keyval, &value, &flag);
    return flag != 0;
}

void attributes_of_communicators() {
    int keyval, value = 0;
    MPI_Comm_create_keyval(copy<MPI_Comm>, remove<MPI_Comm>, &keyval, nullptr);
    MPI_Comm comm, made = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_attr(comm, keyval, &value);
    copy_throws = 60;
    must_throw(60, [&] { MPI_Comm_dup(comm, &made); });
    MPI_Request request;
    MPI_Comm_idup(comm, &made, &request);
    must_throw(60, [&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });
    // The copy function throws on one rank only. The other ranks get their communicator.
    copy_throws = rank_in(comm) == 0 ? 61 : 0;
    check_equal(throws(61, [&] { MPI_Comm_dup(comm, &made); }), copy_throws != 0);
    if (!copy_throws) MPI_Comm_free(&made);
    copy_throws = 0;
    delete_throws = 62;
    must_throw(62, [&] { MPI_Comm_set_attr(comm, keyval, &value); });
    must_throw(62, [&] { MPI_Comm_delete_attr(comm, keyval); });
    must_throw(62, [&] { MPI_Comm_free(&comm); });
    check(has(comm, keyval), "the attribute is gone that could not be deleted");
    use(comm);
    delete_throws = 0;
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&keyval);
}

void attributes_of_datatypes() {
    int keyval, value = 0;
    MPI_Type_create_keyval(copy<MPI_Datatype>, remove<MPI_Datatype>, &keyval, nullptr);
    MPI_Datatype type, made;
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_attr(type, keyval, &value);
    copy_throws = delete_throws = 70;
    must_throw(70, [&] { MPI_Type_dup(type, &made); });
    must_throw(70, [&] { MPI_Type_delete_attr(type, keyval); });
    must_throw(70, [&] { MPI_Type_free(&type); });
    copy_throws = delete_throws = 0;
    MPI_Type_free(&type);
    MPI_Type_free_keyval(&keyval);
}

// A copy function that calls MPI. The error handler of that call throws, so the exception passes through the
// library twice.
int fails_within(MPI_Comm comm, int, void *, void *, void *, int *) {
    int number = 0;
    return MPI_Send(&number, 1, MPI_INT, nobody(), 0, comm);
}
void nested() {
    int keyval, value = 0;
    MPI_Comm_create_keyval(fails_within, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr);
    MPI_Comm comm, made;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_attr(comm, keyval, &value);
    MPI_Errhandler of_comm = set_handler(comm, handler<MPI_Comm>);
    arm(80);
    must_throw(80, [&] { MPI_Comm_dup(comm, &made); });
    check_equal(called, 1);
    arm(0);
    MPI_Errhandler_free(&of_comm);
    use(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&keyval);
}

int query(void *extra, MPI_Status *) {
    if (*static_cast<int *>(extra) == 90) throw Thrown(90);
    return MPI_SUCCESS;
}
int free_it(void *extra) {
    if (*static_cast<int *>(extra) == 91) throw Thrown(91);
    return MPI_SUCCESS;
}
int cancel(void *extra, int) {
    if (*static_cast<int *>(extra) == 92) throw Thrown(92);
    return MPI_SUCCESS;
}
void generalized_requests() {
    for (int which : {90, 91, 92, 93}) {
        MPI_Request request;
        MPI_Grequest_start(query, free_it, cancel, &which, &request);
        check_equal(throws(92, [&] { MPI_Cancel(&request); }), which == 92);
        MPI_Grequest_complete(request);
        int seen = 0, number = which;
        if (which == 90) must_throw(90, [&] { MPI_Request_get_status(request, &seen, MPI_STATUS_IGNORE); });
        check_equal(throws(number, [&] { MPI_Wait(&request, MPI_STATUS_IGNORE); }), which < 92);
        check(request == MPI_REQUEST_NULL);
    }
}

// Exceptions of any type arrive unchanged.
int throws_number(void *, MPI_Status *) { throw 7; }
int throws_nothing(void *) { return MPI_SUCCESS; }
void any_type() {
    MPI_Request request;
    MPI_Grequest_start(
        throws_number, throws_nothing, [](void *, int) { return MPI_SUCCESS; }, nullptr, &request);
    MPI_Grequest_complete(request);
    int caught = 0;
    try {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } catch (int number) {
        caught = number;
    }
    check_equal(caught, 7);
}

// MPI_Finalize first deletes the attributes of MPI_COMM_SELF. If that throws, MPI is unchanged and may be
// finalised again.
void finalize() {
    int keyval, value = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, remove<MPI_Comm>, &keyval, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &value);
    delete_throws = 99;
    must_throw(99, [] { MPI_Finalize(); });
    use(MPI_COMM_WORLD);
    delete_throws = 0;
    MPI_Finalize();
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    error_handlers();
    handlers_of_other_objects();
    operations();
    attributes_of_communicators();
    attributes_of_datatypes();
    nested();
    generalized_requests();
    any_type();
    check_equal(std::uncaught_exceptions(), 0);
    of_a_freed_request();
    finalize();
    return 0;
}
