// Control variables: one for each row of the table of settings, and for each collective operation one that
// chooses its algorithm on a communicator.
//
// Before MPI_Init every setting may be written. The value takes effect when MPI is initialised, in place of
// the environment's. Later, only settings whose row allows it may be written, and the value affects what
// begins from then on. A write that would have no effect is refused.
// Thread rule: under tool_lock().
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
    const ToolEnum *enumeration;  // for an MPI_INT
    int bind, scope;
    const SettingRow *row;        // for a setting
    int operation = -1;           // for an algorithm
};

const std::vector<Cvar> &cvars();

}  // namespace tool

struct CvarHandle : Object {
    const tool::Cvar *variable = nullptr;
    tool::Bound bound;
    int count = 1;         // for a text: characters including the null
};

namespace tool {

Error make_cvar_handle(const Cvar &variable, const Bound &bound, CvarHandle *&handle);
Error find_cvar_handle(const CvarHandle *handle);
void free_cvar_handle(CvarHandle *handle);
void free_all_cvar_handles();
Error read_cvar(const CvarHandle &handle, void *to);
Error write_cvar(const CvarHandle &handle, const void *from);

// Values written before the first initialisation replace those of the environment.
void apply_written_cvars(Settings &settings);

}  // namespace tool
}  // namespace lanyard
