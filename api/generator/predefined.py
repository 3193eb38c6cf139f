"""Generates src/datatype/generated/predefined.h: the table of predefined datatypes."""

from .text import NOTICE


def generate(description, output):
    types = {n: d for n, d in description.datatypes.items() if 'element' in d}
    indices = {d['index'] for d in types.values() if 'index' in d}
    elements = sorted({d['element'] for d in types.values()} | indices, key=element_order)
    lines = [
        '// The predefined datatypes of the MPI-5.0 ABI: handle, name, elements, and the predefined',
        '// operations that they allow. Sizes are those of x86-64 and aarch64 Linux, and of Fortran with',
        '// default kinds. A pair consists of a value and an index.',
        f'// {NOTICE}', '#pragma once', '', '#include <cstddef>', '#include <cstdint>', '',
        'namespace lanyard::predefined {', '',
        '// The type of one number. float16 to float128 are the IEEE formats; boolean is one byte.',
        'enum class Element : uint8_t {', '    none,', *[f'    {e},' for e in elements], '};', '',
        '// The reduction groups of the standard.',
        'enum class ReductionGroup : uint8_t {', '    none,', *[f'    {g},' for g in description.reductions],
        '};', '']
    lines += ['// The predefined operations that a group allows, with one bit for each operation: bit 0 is',
              '// the operation with the handle value 0x20.',
              'constexpr uint64_t operation_bit(int op_value) { return uint64_t{1} << (op_value - 0x20); }',
              '', 'constexpr uint64_t allowed_operations(ReductionGroup group) {', '    switch (group) {']
    for group, allowed in description.reductions.items():
        mask = bits(allowed, description)
        lines.append(f'    case ReductionGroup::{group}: return {mask};  // {short(allowed)}')
    lines += ['    case ReductionGroup::none: break;', '    }', '    return 0;', '}', '']
    lines += ['// The operations that the standard does not define for the datatype with this handle but',
              '// that other libraries accept as well.',
              'constexpr uint64_t accepted_operations(int type_value) {', '    switch (type_value) {']
    for name, accepted in description.accepted.items():
        mask = bits(accepted, description)
        lines.append(f'    case 0x{types[name]["value"]:03x}: return {mask};  // {name}: {short(accepted)}')
    lines += ['    }', '    return 0;', '}', '']
    lines += ['struct Type {', '    int value;  // the handle', '    const char *name;',
              '    Element element;', '    Element index;  // the second part of a pair',
              '    uint8_t size, extent, alignment;',
              '    uint8_t index_offset;  // of the second part of a pair, otherwise 0',
              '    uint8_t external32_size;', '    ReductionGroup group;',
              '    bool optional;  // a library need not support it', '};', '']
    lines += ['// In the order of the handles. Synonyms are omitted.',
              f'inline constexpr Type types[{len(types)}] = {{']
    width = max(len(n) for n in types) + 3
    for name, d in types.items():
        lines.append('    ' + row(name, d, width, types))
    lines += ['};', '']
    sizes = {'short': 2, 'int': 4, 'long': 8, 'long long': 8, 'float': 4, 'double': 8, 'long double': 16,
             'wchar_t': 4, 'bool': 1}
    lines += [f'static_assert(sizeof({c}) == {size});' for c, size in sizes.items()]
    lines += ['', '}  // namespace lanyard::predefined']
    output.write('src/datatype/generated/predefined.h', lines)


def bits(operations, description):
    return hex(sum(1 << (description.value_of(op) - 0x20) for op in operations))


def short(operations):
    return ' '.join(op.removeprefix('MPI_') for op in operations)


def element_order(name):
    families = ('int', 'uint', 'float', 'long_double', 'complex', 'logical', 'boolean', 'byte', 'character')
    family = max((f for f in families if name.startswith(f)), key=len)
    digits = ''.join(c for c in name if c.isdigit())
    return families.index(family), int(digits or 1000)


def row(name, d, width, types):
    extent = d.get('extent', d['size'])
    offset = 0
    if 'index' in d:
        index = next(t for t in types.values() if t['element'] == d['index'] and 'index' not in t)
        value_size = d['size'] - index['size']
        offset = -(-value_size // index['alignment']) * index['alignment']
    quoted = f'"{name}",'
    return (f'{{0x{d["value"]:03x}, {quoted:<{width}} Element::{d["element"]}, '
            f'Element::{d.get("index", "none")}, {d["size"]}, {extent}, {d["alignment"]}, {offset}, '
            f'{d.get("external32", d["size"])}, ReductionGroup::{d.get("group", "none")}, '
            f'{"true" if d.get("optional") else "false"}}},')
