// Creates, for the programs of this folder, sessions and communicators from them.
#pragma once

#include "comm/check.h"

inline MPI_Session begin(MPI_Errhandler handler = MPI_ERRORS_RETURN,
                         const std::source_location &where = std::source_location::current()) {
    MPI_Session session = MPI_SESSION_NULL;
    check_equal(MPI_Session_init(MPI_INFO_NULL, handler, &session), MPI_SUCCESS, where);
    check(session != MPI_SESSION_NULL, "the session is null", where);
    return session;
}

inline void end(MPI_Session &session, const std::source_location &where = std::source_location::current()) {
    check_equal(MPI_Session_finalize(&session), MPI_SUCCESS, where);
    check(session == MPI_SESSION_NULL, "the session is not null", where);
}

inline MPI_Comm comm_of(MPI_Session session, const char *set, const char *tag,
                        const std::source_location &where = std::source_location::current()) {
    MPI_Group group;
    MPI_Comm comm;
    check_equal(MPI_Group_from_session_pset(session, set, &group), MPI_SUCCESS, where);
    check(group != MPI_GROUP_NULL, "there is no such set", where);
    check_equal(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS,
                where);
    MPI_Group_free(&group);
    return comm;
}

inline std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = -1;
    check_equal(MPI_Error_string(code, text, &length), MPI_SUCCESS);
    return text;
}

inline void check_error(int code, int error_class, const char *word,
                        const std::source_location &where = std::source_location::current()) {
    check_class(code, error_class, where);
    check(text_of(code).find(word) != std::string::npos,
          "\"" + text_of(code) + "\" does not say \"" + word + "\"", where);
}
