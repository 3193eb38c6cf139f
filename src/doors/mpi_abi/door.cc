// Creates the table (Door) through which the core calls functions of a program that uses libmpi_abi.so.1.
#include "doors/mpi_abi/abi.h"
#include "doors/program_calls.h"

namespace lanyard::mpi_abi {

constinit const Door Abi::door = doors::ProgramCalls<Abi>::door();

}  // namespace lanyard::mpi_abi
