"""Generates the data of an ABI: its types, its predefined handles and its constants."""

from .constants import core_name
from .text import NOTICE, wrapped


def generate(abi, description, output):
    types(abi, description, output)
    handles(abi, description, output)
    values(abi, description, output)


def standard(abi, description, output):
    """Generates the files of the standard ABI: its types, and the translations of its constants, which other
    ABIs inherit."""
    lines = ['// The types of the MPI-5.0 ABI, from its mpi.h, and the object types of its handles.',
             f'// {NOTICE}', '#pragma once', '',
             '#pragma GCC visibility push(default)', '#include <mpi.h>', '#pragma GCC visibility pop', '',
             '#include "api/types.h"', '', f'namespace lanyard::{abi.name} {{', '',
             'template <class Handle>', 'struct HandleType;', '']
    for name, handle in description.types['handles'].items():
        lines += ['template <>', f'struct HandleType<{name}> {{',
                  f'    using Object = {handle["core"]};', '};']
    lines += ['', *type_names(description, '::'), '', f'}}  // namespace lanyard::{abi.name}']
    output.write(f'src/doors/{abi.name}/types.h', lines)
    lines = ['// The constants of the standard, by kind of parameter. The library uses the same values, so',
             '// the functions that translate values to those of the library (KIND_in) and back (KIND_out)',
             '// return their argument.',
             f'// {NOTICE}', '#pragma once', '', '#include <cstddef>', '#include <cstdint>', '',
             'namespace lanyard::doors {', '', 'struct StandardConstants {']
    for kind, about in description.kinds.items():
        if isinstance(about.get('constants'), list):
            lines += [f'    static {about["core"]} {kind}_{way}({about["core"]} value) {{ return value; }}'
                      for way in ('in', 'out')]
    lines += ['', '    // The maximum lengths of texts.', *lengths(description, {}), '};', '',
              '}  // namespace lanyard::doors']
    output.write('src/doors/standard_constants.h', lines)


def type_names(description, scope):
    """Returns declarations that make the types of an ABI members of its struct, under the names that the
    bodies use."""
    types = description.types
    names = [*types['integers'], *types['enums'], *types['handles'], *types['tool_handles'], 'MPI_Status',
             *types['callbacks']]
    return ['// All types, under the names that the bodies use.', 'struct Types {',
            *[f'    using {name} = {scope}{name};' for name in names], '};']


def lengths(description, here):
    """Returns declarations of the constants that limit the length of a text."""
    values = description.constants['length']['values']
    return [f'    static constexpr size_t {core_name(name)} = {here.get(name, c["value"])};'
            for name, c in values.items()]


def types(abi, description, output):
    lines = [f'// The types of the {abi.title}: its handles, status and callbacks. Handles are integers in',
             '// C, but each kind has its own type in C++.',
             f'// {NOTICE}', '#pragma once', '', '#include <cstdint>', '',
             f'namespace lanyard::{abi.name} {{', '']
    lines += [f'using {name} = {c_type};' for name, c_type in description.types['integers'].items()]
    lines += ['using MPI_Fint = int;', *[f'using {name} = int;' for name in description.types['enums']], '']
    for name, handle in description.types['handles'].items():
        lines.append(f'enum class {name} : int {{}};' if name in abi.object_kinds else
                     f'using {name} = struct {handle["struct"]} *;')
    for name, handle in description.types['tool_handles'].items():
        lines.append(f'using {name} = struct {handle["struct"]} *;')
    lines.append('')
    lines += [f'inline constexpr MPI_Datatype {name}{{0x{value:08x}}};'
              for name, value in abi.markers.items()]
    lines += ['', 'struct MPI_Status {', *[f'    {field};' for field in abi.status], '};', '',
              'extern "C" {', '']
    for name, callback in description.types['callbacks'].items():
        lines += wrapped(f'typedef {callback["returns"]} {name}({callback["parameters"]});')
    lines += ['', '}  // extern "C"', '', *type_names(description, f'{abi.name}::'), '',
              f'}}  // namespace lanyard::{abi.name}']
    output.write(f'src/doors/{abi.name}/types.h', lines)


def predefined(abi, description, group):
    """Returns the predefined objects of a kind, without the null handle.

    Each row has the handle in this ABI, the value in the standard and the name of one object. If two handles
    stand for the same object, a call that returns a handle returns the last of the two, which is the larger
    number.
    """
    named = description.datatypes if group == 'datatype' else description.constants[group]['values']
    rows, seen = [], set()
    for name, value in abi.groups[group].items():
        if 'synonym_of' not in named[name] and value not in seen and not name.endswith('_NULL'):
            rows.append((value, named[name]['value'], name))
            seen.add(value)
    if group == 'datatype':
        rows += [(more['value'], named[more['taken_for']]['value'], name)
                 for name, more in abi.more_datatypes.items()]
    return sorted(rows)


def handles(abi, description, output):
    lines = [f'// The handle types of the {abi.title}: the type of the object, the null handle, the bits of',
             '// handles that are created at run time, and the predefined handles with their values in the',
             '// standard ABI.',
             f'// {NOTICE}', '#pragma once', '', '#include "api/types.h"',
             f'#include "doors/{abi.name}/predefined.h"', f'#include "doors/{abi.name}/types.h"', '',
             f'namespace lanyard::{abi.name} {{', '',
             'template <class Handle>', 'struct HandleType;', '']
    for name, handle in description.types['handles'].items():
        groups = (g for g, t in description.constants.items() if handle['null'] in t['values'])
        group = 'datatype' if name == 'MPI_Datatype' else next(groups)
        lines += ['template <>', f'struct HandleType<{name}> {{', f'    using Object = {handle["core"]};']
        if name in abi.object_kinds:
            rows = predefined(abi, description, group)
            made = 0x30 | abi.object_kinds[name]
            lines += [f'    static constexpr uint32_t null_bits = 0x{abi.values[handle["null"]]:08x};',
                      f'    static constexpr uint32_t made = 0x{made:02x};  // the upper six bits']
            if rows:
                lines.append(f'    static constexpr PredefinedHandles<{len(rows)}> predefined{{{{')
                lines += [f'        {{0x{here:08x}, 0x{standard:03x}}},  // {constant}'
                          for here, standard, constant in rows]
                lines.append('    }};')
            else:
                lines.append('    static constexpr PredefinedHandles<0> predefined{};')
        lines += ['};', '']
    lines += [f'}}  // namespace lanyard::{abi.name}']
    output.write(f'src/doors/{abi.name}/handle_types.h', lines)


def values(abi, description, output):
    lines = [f'// Translation of the constants of the {abi.title} to those of the standard (KIND_in) and',
             '// back (KIND_out), by kind of parameter. A number that is not a constant of this ABI is not',
             '// changed unless it is the value of a constant in the standard.',
             f'// {NOTICE}', '#pragma once', '', '#include "base/abi_constants.h"',
             '#include "doors/standard_values.h"', '',
             f'namespace lanyard::{abi.name} {{', '', 'struct Values : doors::StandardValues {',
             '    // Replaces a value that has a meaning in the standard but none in this ABI.',
             '    static constexpr int no_such_value = INT32_MIN;', '']
    for kind, about in description.kinds.items():
        if isinstance(about.get('constants'), list):
            rows = abi.constants_of(kind)
            if any(here != standard for _, here, standard in rows):
                made = (mask if about.get('mask') else single)(kind, about['core'], rows)
                lines += [*[f'    {line}' for line in made], '']
    lines += ['    // The maximum lengths of texts.', *lengths(description, abi.groups['length']), '};', '',
              f'}}  // namespace lanyard::{abi.name}']
    output.write(f'src/doors/{abi.name}/values.h', lines)


def number(value):
    return f'0x{value:x}' if value > 0xffff else str(value)


def single(kind, core, rows):
    lines = [f'static {core} {kind}_in({core} value) {{', '    switch (value) {']
    here = {value: name for name, value, _ in reversed(rows) if value is not None}
    lines += [f'    case {number(value)}: return abi::{core_name(name)};'
              for value, name in reversed(here.items())]
    unknown = sorted({standard for _, _, standard in rows} - set(here))
    for start in range(0, len(unknown), 8):
        lines.append('    ' + ' '.join(f'case {value}:' for value in unknown[start:start + 8]))
    if unknown:
        lines[-1] += ' return no_such_value;'
    lines += ['    default: return value;', '    }', '}',
              f'static {core} {kind}_out({core} value) {{', '    switch (value) {']
    lines += [f'    case abi::{core_name(name)}: return {number(value)};'
              for name, value, _ in rows if value is not None]
    return lines + ['    default: return value;', '    }', '}']


def mask(kind, core, rows):
    known = 0
    for _, value, _ in rows:
        known |= value
    lines = [f'static {core} {kind}_in({core} value) {{',
             f'    if (value & ~{known}) return no_such_value;', f'    {core} result = 0;']
    lines += [f'    if (value & {value}) result |= abi::{core_name(name)};' for name, value, _ in rows]
    lines += ['    return result;', '}',
              f'static {core} {kind}_out({core} value) {{', f'    {core} result = 0;']
    lines += [f'    if (value & abi::{core_name(name)}) result |= {value};' for name, value, _ in rows]
    return lines + ['    return result;', '}']
