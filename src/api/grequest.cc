// Defines the typed functions (types.h) of generalized requests, which give an operation of the program a
// request (MPI-5.0 section 13.2). The program reports when such a request is complete. To wait for, test,
// query, free or cancel the request, MPI calls functions of the program. At that moment the calling thread
// does not own the engine, so the program's functions may call MPI themselves. An exception from such a
// function counts as a failure (base/thrown.h). If the program has freed the request before completing it,
// MPI_Grequest_complete also ends the request.
// Tested by: tests/mpi/requests/generalized.cc, tests/mpi/errors/thrown.cc.
#include <string>
#include <utility>

#include "api/door.h"
#include "api/generated/core.h"
#include "api/request.h"
#include "base/thrown.h"
#include "runtime/runtime.h"

namespace lanyard {

namespace {

struct Generalized {
    Callback query, free, cancel;
    void *extra_state;
};

Generalized &generalized(Request &request) { return *static_cast<Generalized *>(request.state); }

std::string name_of(const char *function) {
    return std::string("the program's ").append(function).append(" function of a generalized request");
}

// Calls the program's function of this name. Returns an error if the function fails or throws.
template <class Call>
Error calling(const char *function, Call call) {
    return catching([&] { return name_of(function); }, [&]() -> Error {
        int code = call();
        if (code == abi::success) return {};
        return {code, name_of(function) + " returned " + std::to_string(code)};
    });
}

Error query(Request &request) {
    Generalized &own = generalized(request);
    auto querying = [&] {
        return own.query.door->query_request(own.query.function, own.extra_state, &request.other.status);
    };
    return calling("query", querying);
}

Error call_free(Request &request) {
    Generalized &own = generalized(request);
    return calling("free", [&] { return own.free.door->free_request(own.free.function, own.extra_state); });
}

// Called when a wait or test has seen the completion. Queries the status and then calls the program's free
// function, even if the query failed.
Error picked_up(Request &request) {
    Error error = query(request), second = call_free(request);
    if (!error) return second;
    second.discard();
    return error;
}

Error cancel(Request &request) {
    Generalized &own = generalized(request);
    auto cancelling = [&] {
        return own.cancel.door->cancel_request(own.cancel.function, own.extra_state, request.complete());
    };
    return calling("cancel", cancelling);
}

Error end(Request &request) {
    Error error = call_free(request);
    release_request(&request);
    return error;
}

Error freed(Request &request) {
    {
        EngineGuard guard(*runtime()->engine);
        if (!request.complete()) {
            request.given_up = true;
            return {};
        }
    }
    return end(request);
}

void release_state(Request &request) { delete &generalized(request); }

constexpr RequestActions generalized_actions{
    .picked_up = picked_up, .release = release_state, .cancel = cancel, .query = query, .freed = freed};

}  // namespace

Error lanyard_grequest_start(Callback query_fn, Callback free_fn, Callback cancel_fn, void *extra_state,
                             Request **request) {
    for (auto [name, function] : {std::pair("query_fn", &query_fn), std::pair("free_fn", &free_fn),
                                  std::pair("cancel_fn", &cancel_fn)})
        if (!function->function)
            return Error(
                ErrorClass::arg,
                std::string(name) + " is a null pointer; a generalized request needs all three functions");
    Request *made = new_request(nullptr);
    made->other.name = "a generalized request";
    made->state = new Generalized{query_fn, free_fn, cancel_fn, extra_state};
    made->actions = &generalized_actions;
    *request = made;
    return {};
}

Error lanyard_grequest_complete(Request &request) {
    if (request.actions != &generalized_actions)
        return Error(ErrorClass::request, "the request was not made by MPI_Grequest_start");
    bool given_up = false;
    {
        EngineGuard guard(*runtime()->engine);
        if (request.complete())
            return Error(ErrorClass::request, "the generalized request is complete already");
        given_up = request.given_up;
        request.completion().finish();  // from here on, another thread may end the request
    }
    return given_up ? end(request) : Error();
}

}  // namespace lanyard
