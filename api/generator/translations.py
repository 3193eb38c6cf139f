"""The data of an ABI: its types, its predefined handles and its constants."""

from .constants import core_name
from .text import NOTICE, wrapped


def generate(abi, description, output):
    types(abi, description, output)
    handles(abi, description, output)
    values(abi, description, output)


def standard(abi, description, output):
    """What the standard's ABI needs: the types of mpi.h under one name, and its values as what any ABI may have in common with it."""
    lines = ['// The types of the MPI-5.0 ABI, from its mpi.h, and the objects that its handles stand for.', f'// {NOTICE}', '#pragma once', '',
             '#pragma GCC visibility push(default)', '#include <mpi.h>', '#pragma GCC visibility pop', '', '#include "api/types.h"', '',
             f'namespace lanyard::{abi.name} {{', '', 'template <class Handle>', 'struct HandleType;', '']
    for name, handle in description.types['handles'].items():
        lines += ['template <>', f'struct HandleType<{name}> {{', f'    using Object = {handle["core"]};', '};']
    output.write(f'src/doors/{abi.name}/types.h', [*lines, '', *type_names(description, '::'), '', f'}}  // namespace lanyard::{abi.name}'])
    lines = ['// The constants of the standard, which are those of the library, as they go into it (KIND_in) and come out (KIND_out), by',
             '// kind of parameter.', f'// {NOTICE}', '#pragma once', '', '#include <cstddef>', '#include <cstdint>', '',
             'namespace lanyard::doors {', '', 'struct StandardConstants {']
    for kind, about in description.kinds.items():
        if isinstance(about.get('constants'), list):
            lines += [f'    static {about["core"]} {kind}_{way}({about["core"]} value) {{ return value; }}' for way in ('in', 'out')]
    lines += ['', '    // How long texts may be.', *lengths(description, {}), '};', '', '}  // namespace lanyard::doors']
    output.write('src/doors/standard_constants.h', lines)


def type_names(description, scope):
    """The types of an ABI as members, under the names that the bodies know."""
    types = description.types
    names = [*types['integers'], *types['enums'], *types['handles'], *types['tool_handles'], 'MPI_Status', *types['callbacks']]
    return ['// All of them under the names that the bodies know.', 'struct Types {',
            *[f'    using {name} = {scope}{name};' for name in names], '};']


def lengths(description, here):
    """The constants that say how long a text may be."""
    values = description.constants['length']['values']
    return [f'    static constexpr size_t {core_name(name)} = {here.get(name, c["value"])};' for name, c in values.items()]


def types(abi, description, output):
    lines = [f'// The types of the {abi.title}: integer handles, which C++ tells apart although C does not, its status, its callbacks.',
             f'// {NOTICE}', '#pragma once', '', '#include <cstdint>', '', f'namespace lanyard::{abi.name} {{', '']
    lines += [f'using {name} = {c_type};' for name, c_type in description.types['integers'].items()]
    lines += ['using MPI_Fint = int;', *[f'using {name} = int;' for name in description.types['enums']], '']
    for name, handle in description.types['handles'].items():
        lines.append(f'enum class {name} : int {{}};' if name in abi.object_kinds else f'using {name} = struct {handle["struct"]} *;')
    lines += [f'using {name} = struct {handle["struct"]} *;' for name, handle in description.types['tool_handles'].items()] + ['']
    lines += [f'inline constexpr MPI_Datatype {name}{{0x{value:08x}}};' for name, value in abi.markers.items()]
    lines += ['', 'struct MPI_Status {', *[f'    {field};' for field in abi.status], '};', '', 'extern "C" {', '']
    for name, callback in description.types['callbacks'].items():
        lines += wrapped(f'typedef {callback["returns"]} {name}({callback["parameters"]});')
    lines += ['', '}  // extern "C"', '', *type_names(description, f'{abi.name}::'), '', f'}}  // namespace lanyard::{abi.name}']
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
    lines = [f'// What each handle of the {abi.title} stands for: its object, its null handle, the bits of handles made at run time, and',
             '// the predefined handles with their values in the standard\'s ABI.',
             f'// {NOTICE}', '#pragma once', '', '#include "api/types.h"', f'#include "doors/{abi.name}/predefined.h"',
             f'#include "doors/{abi.name}/types.h"', '', f'namespace lanyard::{abi.name} {{', '',
             'template <class Handle>', 'struct HandleType;', '']
    for name, handle in description.types['handles'].items():
        group = next(g for g, t in description.constants.items() if handle['null'] in t['values']) if name != 'MPI_Datatype' else 'datatype'
        lines += ['template <>', f'struct HandleType<{name}> {{', f'    using Object = {handle["core"]};']
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
             f'// {NOTICE}', '#pragma once', '', '#include "base/abi_constants.h"', '#include "doors/standard_values.h"', '',
             f'namespace lanyard::{abi.name} {{', '', 'struct Values : doors::StandardValues {',
             '    // Stands for a value that means nothing in this ABI but something in the standard\'s.',
             '    static constexpr int no_such_value = INT32_MIN;', '']
    for kind, about in description.kinds.items():
        if isinstance(about.get('constants'), list):
            rows = abi.constants_of(kind)
            if any(here != standard for _, here, standard in rows):
                made = (mask if about.get('mask') else single)(kind, about['core'], rows)
                lines += [*[f'    {line}' for line in made], '']
    lines += ['    // How long texts may be.', *lengths(description, abi.groups['length']), '};', '', f'}}  // namespace lanyard::{abi.name}']
    output.write(f'src/doors/{abi.name}/values.h', lines)


def number(value):
    return f'0x{value:x}' if value > 0xffff else str(value)


def single(kind, core, rows):
    lines = [f'static {core} {kind}_in({core} value) {{', '    switch (value) {']
    here = {value: name for name, value, _ in reversed(rows) if value is not None}
    lines += [f'    case {number(value)}: return abi::{core_name(name)};' for value, name in reversed(here.items())]
    unknown = sorted({standard for _, _, standard in rows} - set(here))
    for start in range(0, len(unknown), 8):
        lines.append('    ' + ' '.join(f'case {value}:' for value in unknown[start:start + 8]))
    if unknown:
        lines[-1] += ' return no_such_value;'
    lines += ['    default: return value;', '    }', '}', f'static {core} {kind}_out({core} value) {{', '    switch (value) {']
    lines += [f'    case abi::{core_name(name)}: return {number(value)};' for name, value, _ in rows if value is not None]
    return lines + ['    default: return value;', '    }', '}']


def mask(kind, core, rows):
    known = 0
    for _, value, _ in rows:
        known |= value
    lines = [f'static {core} {kind}_in({core} value) {{', f'    if (value & ~{known}) return no_such_value;', f'    {core} result = 0;']
    lines += [f'    if (value & {value}) result |= abi::{core_name(name)};' for name, value, _ in rows]
    lines += ['    return result;', '}', f'static {core} {kind}_out({core} value) {{', f'    {core} result = 0;']
    lines += [f'    if (value & abi::{core_name(name)}) result |= {value};' for name, value, _ in rows]
    return lines + ['    return result;', '}']
