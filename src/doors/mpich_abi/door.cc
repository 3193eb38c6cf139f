// Creates the table (Door) through which the core calls functions of a program that uses libmpi.so.12, and
// returns the core's errors to the program.
// Tested by: tests/mpich_abi/crossing.cc, tests/mpich_abi/beyond.cc.
#include "api/call.h"
#include "doors/mpich_abi/abi.h"
#include "doors/program_calls.h"

namespace lanyard::mpich_abi {

constinit const Door Abi::door = doors::ProgramCalls<Abi>::door();

int Abi::fail(Error error, RaiseOn on, const char *function, std::initializer_list<Argument> arguments) {
    return error_code_out(lanyard::fail(error, on, function, arguments));
}

}  // namespace lanyard::mpich_abi
