// Defines the control variables of MPI_T. Each row of the table of settings is a variable. In addition, each
// collective operation has a variable by which its algorithm on a communicator can be chosen.
//
// Before MPI_Init every setting may be written. The value takes effect when MPI is initialised, and replaces
// the value in the environment. Later, only settings whose row allows it (`changes`) may be written, and the
// value affects operations that begin from then on. A write that would have no effect is refused.
// Thread rule: under tool_lock(), except apply_written_cvars(), which the thread that creates the runtime
// calls without this lock.
// Tested by: tests/unit/tool/tool_test.cc, tests/mpi/tool/cvars.cc.
#pragma once

#include <string>
#include <vector>

#include "tool/tool.h"

namespace lanyard {

namespace tool {

struct Cvar {
    std::string name, sentence;
    const char *category;
    int verbosity;
    int datatype;                 // an abi::type_ value
    const ToolEnum *enumeration;  // for a variable of type MPI_INT: the names of its values
    int bind, scope;
    const SettingRow *row;        // for a setting: its row; otherwise nullptr
    int operation = -1;           // for the choice of an algorithm: the Operation; otherwise -1
};

const std::vector<Cvar> &cvars();

}  // namespace tool

struct CvarHandle : Object {
    const tool::Cvar *variable = nullptr;
    tool::Bound bound;
    int count = 1;         // for a text: the number of characters, including the null
};

namespace tool {

Error make_cvar_handle(const Cvar &variable, const Bound &bound, CvarHandle *&handle);
Error find_cvar_handle(const CvarHandle *handle);
void free_cvar_handle(CvarHandle *handle);
void free_all_cvar_handles();
Error read_cvar(const CvarHandle &handle, void *to);
Error write_cvar(const CvarHandle &handle, const void *from);

// Replaces the values from the environment by the values that were written before the first initialisation.
void apply_written_cvars(Settings &settings);

}  // namespace tool
}  // namespace lanyard
