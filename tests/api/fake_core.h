// A core for the test of the front end: objects that calls can name, and a record of what the typed functions
// and the error handler received.
#pragma once

#include <string>
#include <vector>

#include "api/call.h"
#include "api/handles.h"
#include "api/state.h"
#include "comm/comm.h"
#include "comm/group.h"
#include "datatype/datatype.h"
#include "datatype/op.h"

namespace lanyard {

// Stand-ins for the library's own types, of which the front end uses only the address.
struct Request : Object {};
struct Info : Object {};

struct FakeCore {
    Comm world, self, inter;
    Datatype int_type, own_type, uncommitted;
    Op sum, own_op;
    Request requests[100];

    std::string last_call;      // what raise() received
    std::string last_sentence;
    const void *raised_on = nullptr;

    // What the typed functions received.
    std::vector<int64_t> numbers;
    std::vector<const void *> pointers;
    int64_t result = 0;          // what they return as a number
    ErrorClass answer = ErrorClass::success;
    Callback callback;
    int calls = 0;

    Error done();
};

FakeCore &fake_core();
// Resets everything to its initial state, with MPI initialised.
void reset_fake_core();

}  // namespace lanyard
