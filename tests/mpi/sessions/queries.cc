// Tests what a session reports (process sets, info, thread levels, kinds of memory and its error handler) and
// which calls it refuses.
#include <strings.h>

#include "session.h"

namespace {

std::string value_of(MPI_Info info, const char *key) {
    char value[MPI_MAX_INFO_VAL];
    int length = sizeof value, flag = 0;
    MPI_Info_get_string(info, key, &length, value, &flag);
    return flag ? value : "(none)";
}

MPI_Session begin_with(const char *key, const char *value) {
    MPI_Info info;
    MPI_Session session;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    check_equal(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    MPI_Info_free(&info);
    return session;
}

std::string told(MPI_Session session, const char *key) {
    MPI_Info info;
    check_equal(MPI_Session_get_info(session, &info), MPI_SUCCESS);
    std::string value = value_of(info, key);
    MPI_Info_free(&info);
    return value;
}

void sets(MPI_Session session, int size) {
    int number = 0, seen = 0;
    check_equal(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &number), MPI_SUCCESS);
    for (int n = 0; n < number; ++n) {
        int length = 0;
        check_equal(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, nullptr), MPI_SUCCESS);
        check(length > 1 && length <= MPI_MAX_PSET_NAME_LEN);
        char name[MPI_MAX_PSET_NAME_LEN], cut[6];
        int room = sizeof cut;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &room, cut);
        check_equal(room, length);
        room = length;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &room, name);
        check_equal(std::strlen(name) + 1, static_cast<size_t>(length));
        check(std::string(cut) == std::string(name).substr(0, 5));
        MPI_Info info;
        MPI_Group group;
        check_equal(MPI_Session_get_pset_info(session, name, &info), MPI_SUCCESS);
        check_equal(MPI_Group_from_session_pset(session, name, &group), MPI_SUCCESS);
        int members, rank;
        MPI_Group_size(group, &members);
        MPI_Group_rank(group, &rank);
        check(rank != MPI_UNDEFINED);
        check(value_of(info, "mpi_size") == std::to_string(members));
        if (strcasecmp(name, "mpi://WORLD") == 0) seen += members == size;
        if (strcasecmp(name, "mpi://SELF") == 0) seen += members == 1;
        MPI_Group_free(&group);
        MPI_Info_free(&info);
    }
    check_equal(seen, 2);
    int length = 0;
    MPI_Info info;
    char name[8];
    check_error(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, number, &length, name), MPI_ERR_ARG,
                "process set number");
    check_error(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name), MPI_ERR_ARG,
                "process set number");
    length = 8;
    check_error(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, nullptr), MPI_ERR_ARG,
                "pset_name");
    check_error(MPI_Session_get_pset_info(session, "mpi://NOWHERE", &info), MPI_ERR_ARG, "mpi://NOWHERE");
    MPI_Group group;
    check_error(MPI_Group_from_session_pset(session, "mpi://NOWHERE", &group), MPI_ERR_ARG, "mpi://WORLD");
}

void infos(MPI_Session session) {
    check(told(session, "thread_level") == "MPI_THREAD_MULTIPLE", "the level without a wish");
    check(told(session, "mpi_memory_alloc_kinds") == "system,mpi");
    for (const char *level :
         {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"}) {
        MPI_Session other = begin_with("thread_level", level);
        check(told(other, "thread_level") == level);
        end(other);
    }
    MPI_Session other = begin_with("mpi_memory_alloc_kinds",
                                   "mpi:alloc_mem,cuda:device,mpi:alloc_mem:win_allocate,mpi:other,system:x");
    const char *kinds = "system,mpi,mpi:alloc_mem,mpi:alloc_mem:win_allocate";
    check(told(other, "mpi_memory_alloc_kinds") == kinds, told(other, "mpi_memory_alloc_kinds"));
    MPI_Comm comm = comm_of(other, "mpi://SELF", "kinds"), copy;
    MPI_Comm_dup(comm, &copy);
    MPI_Info info;
    MPI_Comm_get_info(copy, &info);
    check(value_of(info, "mpi_memory_alloc_kinds") == kinds, "a communicator has the kinds of its session");
    MPI_Info_free(&info);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
    end(other);
    MPI_Info wrong;
    MPI_Info_create(&wrong);
    MPI_Info_set(wrong, "thread_level", "MPI_THREAD_WILD");
    check_error(MPI_Session_init(wrong, MPI_ERRORS_RETURN, &other), MPI_ERR_INFO_VALUE, "MPI_THREAD_WILD");
    MPI_Info_free(&wrong);
}

int calls = 0, last_code = 0;
MPI_Session last_session;
void handler(MPI_Session *session, int *code, ...) {
    ++calls;
    last_session = *session;
    last_code = *code;
}
void comm_handler(MPI_Comm *, int *, ...) { calls += 100; }

void handlers() {
    MPI_Errhandler made, of_comm, got;
    MPI_Session_create_errhandler(handler, &made);  // allowed before any session exists
    MPI_Session session = begin(made);
    MPI_Comm_create_errhandler(comm_handler, &of_comm);
    MPI_Info info;
    check_error(MPI_Session_get_pset_info(session, "x://y", &info), MPI_ERR_ARG, "x://y");
    check_equal(calls, 1);
    check(last_session == session);
    check_class(last_code, MPI_ERR_ARG);
    check_equal(MPI_Session_call_errhandler(session, MPI_ERR_OTHER), MPI_SUCCESS);
    check_equal(calls, 2);
    check_equal(last_code, MPI_ERR_OTHER);
    MPI_Session_get_errhandler(session, &got);
    check(got == made);
    MPI_Errhandler_free(&got);
    check_error(MPI_Session_set_errhandler(session, of_comm), MPI_ERR_ERRHANDLER, "not for sessions");
    check_equal(calls, 3);
    for (MPI_Errhandler each : {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN}) {
        MPI_Session_set_errhandler(session, each);
        MPI_Session_get_errhandler(session, &got);
        check(got == each);
    }
    check_error(MPI_Session_get_pset_info(session, "x://y", &info), MPI_ERR_ARG, "x://y");
    check_equal(calls, 3);
    // The error handler given to a call that creates an object also handles errors of this call.
    MPI_Info wrong;
    MPI_Session none = MPI_SESSION_NULL;
    MPI_Info_create(&wrong);
    MPI_Info_set(wrong, "thread_level", "x");
    last_session = session;
    check_error(MPI_Session_init(wrong, made, &none), MPI_ERR_INFO_VALUE, "\"x\"");
    check_equal(calls, 4);
    check(last_session == MPI_SESSION_NULL);
    MPI_Info_free(&wrong);
    MPI_Group self;
    MPI_Comm comm;
    std::string tag(MPI_MAX_STRINGTAG_LEN + 1, 't');
    MPI_Group_from_session_pset(session, "mpi://SELF", &self);
    check_error(MPI_Comm_create_from_group(self, tag.c_str(), MPI_INFO_NULL, of_comm, &comm), MPI_ERR_ARG,
                "stringtag");
    check_equal(calls, 104);
    check_error(MPI_Comm_create_from_group(self, tag.c_str(), MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
                MPI_ERR_ARG, "stringtag");
    check_equal(calls, 104);
    MPI_Group_free(&self);
    MPI_Errhandler_free(&of_comm);
    MPI_Errhandler_free(&made);
    end(session);
}

}  // namespace

int main() {
    handlers();
    MPI_Session session = begin(), gone;
    MPI_Comm world = comm_of(session, "mpi://world", "queries");
    sets(session, size_of(world));
    infos(session);
    check(MPI_Session_fromint(MPI_Session_toint(session)) == session);
    check(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    MPI_Session freed = begin();
    gone = freed;
    end(freed);
    int number;
    check_error(MPI_Session_get_num_psets(gone, MPI_INFO_NULL, &number), MPI_ERR_SESSION, "no session");
    check_error(MPI_Session_get_num_psets(MPI_SESSION_NULL, MPI_INFO_NULL, &number), MPI_ERR_SESSION,
                "MPI_SESSION_NULL");
    check_error(MPI_Session_finalize(&freed), MPI_ERR_SESSION, "MPI_SESSION_NULL");
    MPI_Comm_free(&world);
    end(session);
    return 0;
}
