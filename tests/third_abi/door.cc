// Defines the variables of the ABI, and how the core library calls the program's functions for it.
#include "doors/program_calls.h"
#include "third_abi/abi.h"

namespace third_abi {

CommVariable comm_null, comm_world, comm_self;
DatatypeVariable datatype_null, type_int, type_double, type_byte;
ErrhandlerVariable errhandler_null, errors_return, errors_are_fatal;
GroupVariable group_null, group_empty;
OpVariable op_null, op_sum, op_max;
RequestVariable request_null;
FileVariable file_null;
InfoVariable info_null;
MessageVariable message_null;
SessionVariable session_null;
WinVariable win_null;

constinit const lanyard::Door Abi::door = lanyard::doors::ProgramCalls<Abi>::door();

int Abi::fail(lanyard::Error error, lanyard::RaiseOn on, const char *function,
              std::initializer_list<lanyard::Argument> arguments) {
    return error_code_out(lanyard::fail(error, on, function, arguments));
}

}  // namespace third_abi
