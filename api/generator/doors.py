"""Generates the ABI front ends in src/doors/.

functions/ has the bodies of all MPI functions (functions.py). The folder of each ABI has tables of its values
(translations.py) and its entry points, each of which calls a body.
"""

from . import foreign_header, functions, translations
from .abi import ForeignAbi, StandardAbi
from .constants import core_name
from .description import c_parameter
from .text import NOTICE, wrapped


def generate(description, output):
    handle_names(description, output)
    standard, foreign = StandardAbi(description), ForeignAbi(description, 'mpich_abi')
    functions.generate(description, foreign.chapters, foreign.functions, output)
    translations.standard(standard, description, output)
    translations.generate(foreign, description, output)
    for abi in standard, foreign:
        entry_points(abi, description, output)
    foreign_header.generate(foreign, description, output)


def entry_points(abi, description, output):
    folder = f'src/doors/{abi.name}/'
    for stem, chapter in abi.chapters.items():
        members = [f for f in abi.functions if f.chapter == stem]
        lines = [f'// {chapter["title"]}: the entry points of {abi.library}.', f'// {NOTICE}']
        if any(functions.has_body(f) for f in members):
            lines.append(f'#include "doors/functions/{stem}.h"')
        else:
            lines.append('#include "doors/functions/typed_functions.h"')
        lines += [f'#include "doors/{abi.name}/abi.h"', '#include "doors/entry_point.h"', '',
                  'using namespace lanyard;', f'using namespace lanyard::{abi.name};']
        if any(functions.has_body(f) for f in members):
            lines.append(f'using Functions = doors::{functions.class_name(stem)}<Abi>;')
        lines += ['', 'extern "C" {', '']
        for function in members:
            for name, large in function.forms():
                lines += entry_point(abi, description, function, name, large)
        output.write(f'{folder}entry_points/{stem}.cc', [*lines, '', '}  // extern "C"'])
    files = [f'  entry_points/{stem}.cc' for stem in abi.chapters]
    output.write(f'{folder}entry_points.cmake', [f'# {NOTICE}', 'set(entry_points', *files, ')'])


def entry_point(abi, description, function, name, large):
    """Returns the name of an entry point, its result type, its parameters, and the expression that it
    returns."""
    parameters = function.in_form(large)
    prototype = ', '.join(c_parameter(description, p, large) for p in parameters)
    given = ', '.join(p.name for p in parameters if p.kind != 'varargs')
    if abi.door_function(function):
        call = f'Abi::{abi.door_function(function)}({given})'
    elif function.value:
        call = f'lanyard_{function.core}({given})'
    else:
        form = f'<{"true" if large else "false"}>' if functions.forms(function) == [None] else ''
        call = f'Functions::{functions.body_name(function, large)}{form}(entry{", " if given else ""}{given})'
    whole = f'LANYARD_ENTRY({name}, {function.returns}, ({prototype}), {call});'
    if name in abi.other_ways:
        condition, way = abi.other_ways[name]
        calls = [f'    Abi::{condition}', f'        ? Abi::{way}({given})', f'        : {call});']
    elif len(whole) <= functions.WIDTH:
        return [whole]
    else:
        calls = [f'    {call});']
    head = f'LANYARD_ENTRY({name}, {function.returns}, ({prototype}),'
    return [line for text in [head, *calls] for line in wrapped(text, ' ' * 12)]


def handle_names(description, output):
    rows = []
    for group in description.constants.values():
        if group.get('c_type') in description.types['handles']:
            rows += [(c['value'], name) for name, c in group['values'].items()]
    rows += [(d['value'], name) for name, d in description.datatypes.items() if 'synonym_of' not in d]
    lines = ['// The names of the predefined handles.', f'// {NOTICE}', '#pragma once', '',
             'namespace lanyard {', '',
             'struct HandleName {', '    int value;', '    const char *name;', '};', '',
             f'inline constexpr HandleName handle_names[{len(rows)}] = {{',
             *[f'    {{0x{value:03x}, "{name}"}},' for value, name in sorted(rows)], '};', '',
             '}  // namespace lanyard']
    output.write('src/api/generated/handle_names.h', lines)
