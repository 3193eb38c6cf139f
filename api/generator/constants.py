"""Generates src/base/abi_constants.h: the constants of the standard ABI as plain numbers, for use inside the
library."""

from .text import NOTICE


def core_name(name, prefix=''):
    return prefix + name.removeprefix('MPI_').lower()


def generate(description, output):
    lines = [
        '// The constants of the MPI-5.0 ABI as plain numbers, for use inside the library. MPI_ANY_SOURCE',
        '// is abi::any_source, MPI_COMM_WORLD is abi::comm_world, MPI_SUM is abi::op_sum, and MPI_INT is',
        '// abi::type_int. A handle is represented by its number.',
        f'// {NOTICE}', '#pragma once', '', '#include <cstdint>', '', 'namespace lanyard::abi {', '']
    for group in description.constants.values():
        lines.append(f'// {group["title"]}')
        prefix = group.get('core_prefix', '')
        for name, c in group['values'].items():
            c_type = c.get('c_type', group.get('c_type'))
            type_name = ('int64_t' if c_type == 'MPI_Offset' else
                         'uintptr_t' if c_type.endswith('*') else 'int')
            hexadecimal = c_type.startswith('MPI_') and c['value'] > 0xf
            short = core_name(name) if core_name(name).startswith(prefix) else core_name(name, prefix)
            number = f'0x{c["value"]:03x}' if hexadecimal else c['value']
            lines.append(f'inline constexpr {type_name} {short} = {number};')
        lines.append('')
    lines.append('// Predefined datatypes')
    for name, d in description.datatypes.items():
        short = core_name(name) if core_name(name).startswith('datatype_') else core_name(name, 'type_')
        lines.append(f'inline constexpr int {short} = 0x{d["value"]:03x};')
    lines += ['', '}  // namespace lanyard::abi']
    output.write('src/base/abi_constants.h', lines)
