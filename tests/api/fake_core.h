// FakeCore replaces the core in the test of the front end. It has objects that calls can name, and records
// what the typed functions and the error handler received.
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

// These types replace types of the library. The front end uses only the addresses of such objects.
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
    int64_t result = 0;          // the number that the typed functions return
    ErrorClass answer = ErrorClass::success;
    Callback callback;
    int calls = 0;

    Error done();
};

FakeCore &fake_core();
// Resets everything to its initial state, with MPI initialised.
void reset_fake_core();

}  // namespace lanyard
