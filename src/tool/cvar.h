// Control variables: one for each row of the table of settings, and for each collective operation the algorithm by which it goes on a
// communicator.
//
// When a setting may be written: before MPI_Init each, with effect when MPI is initialised, in place of what the environment says; later
// those whose row says so, with effect on what is begun from then on. A write that would have no effect is refused.
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
    const ToolEnum *enumeration;  // of an MPI_INT
    int bind, scope;
    const SettingRow *row;        // of a setting
    int operation = -1;           // of an algorithm
};

const std::vector<Cvar> &cvars();

}  // namespace tool

struct CvarHandle : Object {
    const tool::Cvar *variable = nullptr;
    tool::Bound bound;
    int count = 1;         // of a text: characters with the null
};

namespace tool {

Error make_cvar_handle(const Cvar &variable, const Bound &bound, CvarHandle *&handle);
Error find_cvar_handle(const CvarHandle *handle);
void free_cvar_handle(CvarHandle *handle);
void free_all_cvar_handles();
Error read_cvar(const CvarHandle &handle, void *to);
Error write_cvar(const CvarHandle &handle, const void *from);

// What was written before the first initialisation takes the place of what the environment said.
void apply_written_cvars(Settings &settings);

}  // namespace tool
}  // namespace lanyard
