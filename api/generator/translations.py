"""What the door of an ABI other than the standard's needs to translate: its types, its predefined handles and its constants."""

from .constants import core_name
from .text import NOTICE, wrapped


def generate(abi, description, output):
    types(abi, description, output)
    handles(abi, description, output)
    values(abi, description, output)


def types(abi, description, output):
    lines = [f'// The types of the {abi.title}: integer handles, which C++ tells apart although C does not, its status, its callbacks.',
             f'// {NOTICE}', '#pragma once', '', '#include <cstdint>', '', f'namespace lanyard::{abi.name} {{', '']
    lines += [f'using {name} = {c_type};' for name, c_type in description.types['integers'].items()]
    lines += ['using MPI_Fint = int;', *[f'using {name} = int;' for name in description.types['enums']], '']
    for name, handle in description.types['handles'].items():
        lines.append(f'enum class {name} : int {{}};' if name in abi.object_kinds else f'using {name} = struct {handle["struct"]} *;')
    lines += [f'using {name} = struct {handle["struct"]} *;' for name, handle in description.types['tool_handles'].items()] + ['']
    lines += [f'inline constexpr MPI_Datatype {name}{{0x{value:08x}}};' for name, value in abi.markers.items()]
    lines += ['', '// A count of 63 bits: its upper bits stand above the bit that says whether the operation was cancelled.',
              'struct MPI_Status {', '    int count_lo;', '    int count_hi_and_cancelled;', '    int MPI_SOURCE;', '    int MPI_TAG;',
              '    int MPI_ERROR;', '};', '', 'inline constexpr int MPI_SUCCESS = 0;', '', 'extern "C" {', '']
    for name, callback in description.types['callbacks'].items():
        lines += wrapped(f'typedef {callback["returns"]} {name}({callback["parameters"]});')
    lines += ['', '}  // extern "C"', '', f'}}  // namespace lanyard::{abi.name}']
    output.write(f'src/doors/{abi.name}/types.h', lines)


def predefined(abi, description, group):
    """Handle here, value in the standard and name of the predefined objects of a kind, the null handle left out.

    Where two stand for one object, the last, with the highest bits, is the one that the program gets."""
    named = description.datatypes if group == 'datatype' else description.constants[group]['values']
    rows, seen = [], set()
    for name, value in abi.groups[group].items():
        if 'synonym_of' not in named[name] and value not in seen and not name.endswith('_NULL'):
            rows.append((value, named[name]['value'], name))
            seen.add(value)
    if group == 'datatype':
        rows += [(more['value'], named[more['taken_for']]['value'], name) for name, more in abi.more_datatypes.items()]
    return sorted(rows)


def handles(abi, description, output):
    lines = [f'// What each handle of the {abi.title} stands for: its object, its null handle, the class of errors about it, the bits of',
             '// handles made at run time, and the predefined handles with their values in the standard\'s ABI.',
             f'// {NOTICE}', '#pragma once', '', '#include "api/types.h"', '#include "base/error.h"', f'#include "doors/{abi.name}/predefined.h"',
             f'#include "doors/{abi.name}/types.h"', '', f'namespace lanyard::{abi.name} {{', '',
             'template <class MpiHandle>', 'struct HandleType;', '']
    for name, handle in description.types['handles'].items():
        group = next(g for g, t in description.constants.items() if handle['null'] in t['values']) if name != 'MPI_Datatype' else 'datatype'
        lines += ['template <>', f'struct HandleType<{name}> {{', f'    using Object = {handle["core"]};',
                  f'    static constexpr int null = abi::{core_name(handle["null"])};',
                  f'    static constexpr ErrorClass error = ErrorClass::{handle["error"].removeprefix("MPI_ERR_").lower()};']
        if name in abi.object_kinds:
            rows = predefined(abi, description, group)
            lines += [f'    static constexpr uint32_t null_bits = 0x{abi.values[handle["null"]]:08x};',
                      f'    static constexpr uint32_t made = 0x{0x30 | abi.object_kinds[name]:02x};  // the upper six bits']
            if rows:
                lines.append(f'    static constexpr PredefinedHandles<{len(rows)}> predefined{{{{')
                lines += [f'        {{0x{here:08x}, 0x{standard:03x}}},  // {constant}' for here, standard, constant in rows]
                lines.append('    }};')
            else:
                lines.append('    static constexpr PredefinedHandles<0> predefined{};')
        lines += ['};', '']
    lines += [f'}}  // namespace lanyard::{abi.name}']
    output.write(f'src/doors/{abi.name}/handle_types.h', lines)


def values(abi, description, output):
    lines = [f'// The constants of the {abi.title}, to those of the standard (KIND_in) and back (KIND_out), by kind of parameter. A',
             '// number that is no constant stays as it is, unless it would be taken for one of the standard\'s.',
             f'// {NOTICE}', '#pragma once', '', '#include <cstdint>', '', '#include "base/abi_constants.h"', '',
             f'namespace lanyard::{abi.name} {{', '',
             '// Stands for a value that means nothing in this ABI but something in the standard\'s.',
             'inline constexpr int no_such_value = INT32_MIN;', '']
    for kind, about in description.kinds.items():
        if isinstance(about.get('constants'), list):
            rows = abi.constants_of(kind)
            lines += (mask if about.get('mask') else single)(kind, about['core'], rows)
    lines += [f'}}  // namespace lanyard::{abi.name}']
    output.write(f'src/doors/{abi.name}/values.h', lines)


def number(value):
    return f'0x{value:x}' if value > 0xffff else str(value)


def single(kind, core, rows):
    lines = [f'inline {core} {kind}_in({core} value) {{', '    switch (value) {']
    here = {value for _, value, _ in rows}
    seen = set()
    for name, value, _ in rows:
        if value is not None and value not in seen:
            lines.append(f'    case {number(value)}: return abi::{core_name(name)};')
            seen.add(value)
    for _, _, standard in rows:
        if standard not in here and standard not in seen:
            lines.append(f'    case {standard}: return no_such_value;')
            seen.add(standard)
    lines += ['    default: return value;', '    }', '}', f'inline {core} {kind}_out({core} value) {{', '    switch (value) {']
    lines += [f'    case abi::{core_name(name)}: return {number(value)};' for name, value, _ in rows if value is not None]
    return lines + ['    default: return value;', '    }', '}', '']


def mask(kind, core, rows):
    known = 0
    for _, value, _ in rows:
        known |= value
    lines = [f'inline {core} {kind}_in({core} value) {{', f'    if (value & ~{known}) return no_such_value;', f'    {core} result = 0;']
    lines += [f'    if (value & {value}) result |= abi::{core_name(name)};' for name, value, _ in rows]
    lines += ['    return result;', '}', f'inline {core} {kind}_out({core} value) {{', f'    {core} result = 0;']
    lines += [f'    if (value & abi::{core_name(name)}) result |= {value};' for name, value, _ in rows]
    return lines + ['    return result;', '}', '']
