// Defines the typed functions (types.h) of MPI_Request_get_status and its relatives (MPI-5.0 section 3.7.6).
// They read the status and leave the request as it is. Any thread.
// Tested by: tests/mpi/pt2pt/status.cc, tests/mpi/requests/generalized.cc.
#include "api/generated/core.h"
#include "api/requests.h"

namespace lanyard {

namespace {

// Reads the status of a complete request. If the operation has failed, the status shows the class of the
// error. This call does not fail because of that error, which a later wait or test will return.
void ask_into(StatusErrors &errors, Request &request, Status *status) {
    Error error = ask_status(request, status);
    bool failed = static_cast<bool>(error);
    errors.add(error, status);
    if (status && !failed) status->error = request.operation.error.code();
}

}  // namespace

extern "C" {

Error lanyard_request_get_status(Request *request, int *flag, Status *status) {
    *flag = 1;
    if (idle(request)) {
        set_empty(status);
        return {};
    }
    if (!request->complete())
        if (Error error = make_progress(1, &request)) return error;
    *flag = request->complete();
    return *flag ? ask_status(*request, status) : Error();
}

Error lanyard_request_get_status_all(int count, Request *const *requests, int *flag, Status *statuses) {
    if (!all_complete(count, requests))
        if (Error error = make_progress(count, requests)) return error;
    *flag = all_complete(count, requests);
    StatusErrors errors;
    for (int i = 0; *flag && i < count; ++i) {
        Status *status = status_at(statuses, i);
        if (idle(requests[i]))
            set_empty(status);
        else
            ask_into(errors, *requests[i], status);
    }
    return errors.error();
}

Error lanyard_request_get_status_any(int count, Request *const *requests, int *indx, int *flag,
                                     Status *status) {
    *indx = abi::undefined;
    *flag = 1;
    if (!any_active(count, requests)) {
        set_empty(status);
        return {};
    }
    if (first_complete(count, requests) < 0)
        if (Error error = make_progress(count, requests)) return error;
    int found = first_complete(count, requests);
    *flag = found >= 0;
    if (found < 0) return {};
    *indx = found;
    return ask_status(*requests[found], status);
}

Error lanyard_request_get_status_some(int incount, Request *const *requests, int *outcount, int *indices,
                                      Status *statuses) {
    *outcount = abi::undefined;
    if (!any_active(incount, requests)) return {};
    if (first_complete(incount, requests) < 0)
        if (Error error = make_progress(incount, requests)) return error;
    StatusErrors errors;
    int found = 0;
    for (int i = 0; i < incount; ++i) {
        if (idle(requests[i]) || !requests[i]->complete()) continue;
        Status *status = status_at(statuses, found);
        ask_into(errors, *requests[i], status);
        indices[found++] = i;
    }
    *outcount = found;
    return errors.error();
}

}  // extern "C"

}  // namespace lanyard
