"""Generates two headers of src/api/generated/.

core.h has the prototypes of the typed functions. One typed function serves both MPI_X and MPI_X_c. coverage.h
lists the typed function that each MPI function needs.
"""

from .text import NOTICE, wrapped


def core_parameter(description, p):
    """Returns a parameter as the prototype of a typed function declares it; None if the parameter is not
    passed to that function."""
    if p.kind == 'varargs':
        return None
    handle = description.handle_of_kind.get(p.kind)
    if handle:
        return object_parameter(description.types['handles'][handle]['core'], p)
    if p.kind == 'function':
        return f'Callback {p.name}'
    if p.kind == 'status':
        if p.array or p.direction == 'out':
            return f'Status *{p.name}'
        return f'{"const " if p.direction == "in" else ""}Status &{p.name}'
    base = description.kinds[p.kind]['core']
    const = 'const ' if p.direction == 'in' and (p.kind == 'logical' or not p.has('mutable')) else ''
    star = '' if base.endswith('*') else ' '
    if p.kind in ('buffer', 'string', 'logical'):
        return f'{const}{base} *{p.name}'
    if p.kind in ('string_list', 'string_lists'):
        return f'{base}*{p.name}'
    if p.row:
        return f'const {base} (*{p.name})[{p.row}]'
    if p.array and p.direction == 'in':
        return f'Counts {p.name}' if base == 'int64_t' else f'const {base}{star}*{p.name}'
    if p.direction == 'in' or p.has('by_value'):
        return f'{base}{star}{p.name}'
    return f'{base}{star}*{p.name}'


def object_parameter(core, p):
    if p.array:
        return f'{core} *const *{p.name}' if p.direction == 'in' else f'{core} **{p.name}'
    if p.direction == 'out':
        return f'{core} **{p.name}'
    if p.direction == 'inout':
        return f'{core} *&{p.name}'
    return f'{core} *{p.name}' if may_be_absent(p) else f'{core} &{p.name}'


def may_be_absent(p):
    """True if the object of this parameter may be nullptr: for a null handle, or if the argument is not
    significant."""
    return p.has('null') or 'at' in p.options or 'unless_in_place' in p.options


def core_prototype(description, function):
    parameters = [core_parameter(description, p) for p in function.parameters]
    if function.tell_form:
        parameters.append('bool large_count')
    returns = function.returns if function.value else 'Error'
    return f'{returns} lanyard_{function.core}({", ".join(x for x in parameters if x)})'


def typed_functions(description):
    """Maps the name of each typed function to the first MPI function that it serves.

    All MPI functions that share a typed function must agree on its prototype.
    """
    found = {}
    for function in description.functions:
        if function.door:
            continue
        first = found.setdefault(function.core, function)
        if [core_types(description, f) for f in (first, function)] != [core_types(description, first)] * 2:
            raise SystemExit(f'{first.name} and {function.name} share lanyard_{function.core} '
                             'but differ in its prototype')
    return found


def core_types(description, function):
    parameters = [core_parameter(description, p).removesuffix(p.name)
                  for p in function.parameters if p.kind != 'varargs']
    return function.value, function.tell_form, parameters


def generate(description, output):
    typed = typed_functions(description)
    lines = [
        '// The typed functions of the core library. The ABI front ends call them after they have checked',
        '// and converted the arguments. One typed function serves both widths of counts. The files of',
        '// src/api define these functions. If one is missing, the front ends report that its MPI function',
        '// is not implemented. A pointer to an object is nullptr if the handle is null or the argument is',
        '// not significant. An out handle is set only on success. Any thread that may call MPI may call',
        '// these functions.',
        f'// {NOTICE}', '#pragma once', '', '#include "api/types.h"', '#include "base/error.h"', '',
        '#pragma GCC visibility push(default)', 'namespace lanyard {', 'extern "C" {', '']
    for stem, chapter in description.chapters.items():
        members = [f for name, f in typed.items() if f.chapter == stem]
        if not members:
            continue
        lines.append(f'// {chapter["title"]}.')
        for function in members:
            if function.says:
                lines.append(f'// {function.says}')
            lines += wrapped(core_prototype(description, function) + ';')
        lines.append('')
    lines += ['}  // extern "C"', '}  // namespace lanyard', '#pragma GCC visibility pop']
    output.write('src/api/generated/core.h', lines)
    coverage(description, output)


def weak_functions(names, path, output):
    """Writes the header through which the ABI front ends include core.h."""
    output.write(path, [
        '// Declares the typed functions of the core library as weak: one that the library lacks is a null',
        '// pointer. Nothing may include core.h before this file, as clang ignores the pragma for a function',
        '// that is already declared in a namespace.', f'// {NOTICE}', '#pragma once', '',
        *[f'#pragma weak {name}' for name in sorted(names)], '', '#include "api/generated/core.h"'])


def coverage(description, output):
    lines = [
        '// Every MPI function with the typed function of liblanyard.so.0 that it needs. An MPI function is',
        '// implemented if that symbol exists. The ABI front ends themselves implement the functions that',
        '// need none.',
        f'// {NOTICE}', '#pragma once', '', 'namespace lanyard {', '',
        'struct CoverageEntry {', '    const char *name;', '    const char *typed_function;  // or nullptr',
        '    const char *chapter;', '};', '']
    rows = []
    for function in description.functions:
        for name, _large in function.forms():
            symbol = 'nullptr' if function.door else f'"lanyard_{function.core}"'
            rows.append(f'    {{"{name}", {symbol}, "{description.chapters[function.chapter]["title"]}"}},')
    lines += [f'inline constexpr CoverageEntry coverage_table[{len(rows)}] = {{', *rows, '};', '',
              '}  // namespace lanyard']
    output.write('src/api/generated/coverage.h', lines)
