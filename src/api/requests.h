// Declares functions on several requests at once, which wait.cc and get_status.cc share.
// Tested by: tests/mpi/pt2pt/waits.cc, tests/mpi/pt2pt/status.cc.
#pragma once

#include "api/raise.h"
#include "api/request.h"

namespace lanyard {

// True if there is nothing to wait for: a null request, or an inactive persistent request.
inline bool idle(const Request *request) { return !request || !request->active; }

inline bool any_active(int count, Request *const *requests) {
    for (int i = 0; i < count; ++i)
        if (!idle(requests[i])) return true;
    return false;
}

inline int first_complete(int count, Request *const *requests) {
    for (int i = 0; i < count; ++i)
        if (!idle(requests[i]) && requests[i]->complete()) return i;
    return -1;
}

inline bool all_complete(int count, Request *const *requests) {
    for (int i = 0; i < count; ++i)
        if (!idle(requests[i]) && !requests[i]->complete()) return false;
    return true;
}

inline Status *status_at(Status *statuses, int i) { return statuses ? statuses + i : nullptr; }

// Turns the errors of several requests into codes in their statuses. If there is at least one error, the
// result is MPI_ERR_IN_STATUS (MPI-5.0 3.7.5).
class StatusErrors {
public:
    void add(Error error, Status *status) {
        if (!error) {
            if (status) status->error = 0;
            return;
        }
        ErrorRecord record = error.take();
        int code = code_of(record, record.sentence);
        if (status) status->error = code;
        if (!first_.code)
            first_ = {
                .code = code, .sentence = record.sentence, .about = record.about, .thrown = record.thrown};
    }
    Error error() {
        if (!first_.code) return {};
        Error error(ErrorClass::in_status, first_.sentence);
        return error.about(first_.about).because_of(first_.code).that_threw(first_.thrown);
    }

private:
    ErrorRecord first_{0, {}};
};

// Picks up all requests, each of which must be complete or idle.
Error pick_up_all(int count, Request **requests, Status *statuses);

// Takes the engine and makes one turn, for a test that found nothing. Returns an error if one of the requests
// is a generalized request that the program has freed but not completed yet.
Error make_progress(int count, Request *const *requests);

}  // namespace lanyard
