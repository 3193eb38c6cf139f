"""Generates include/mpi.h: the C interface of the MPI-5.0 ABI."""

from .description import c_prototype
from .text import NOTICE, wrapped

LITERAL_TYPES = {'int'}                  # constants of these types need no cast


def generate(description, output):
    types = description.types
    version = {name: c['value'] for name, c in description.constants['version']['values'].items()}
    mpi = f'{version["MPI_VERSION"]}.{version["MPI_SUBVERSION"]}'
    abi = f'{version["MPI_ABI_VERSION"]}.{version["MPI_ABI_SUBVERSION"]}'
    lines = [
        f'/* The C interface of MPI {mpi} with its standard ABI {abi}. A program compiled with this header',
        '   runs with every library that has this ABI. Constants are literals. Handles are pointers to',
        '   structs that are never defined. Each function has a second name PMPI_x for profiling tools. The',
        '   header requires at least C99 or C++98.',
        f'   {NOTICE} */',
        '#ifndef MPI_H_ABI', '#define MPI_H_ABI', '', '#include <stdint.h>', '',
        '#ifdef __cplusplus', 'extern "C" {', '#endif', '']
    lines += ['/* Integer types */', *[f'typedef {c} {name};' for name, c in types['integers'].items()], '']
    lines += status_struct(types['status'])
    handles = {**types['handles'], **types['tool_handles']}
    lines += ['/* Handles */', *[f'typedef struct {h["struct"]} *{name};' for name, h in handles.items()], '']
    for name, group in types['enums'].items():
        lines += enumeration(name, description.constants[group])
    lines += callbacks(types)
    for group in description.constants.values():
        if group.get('c_type') != 'enum':
            lines += constants(group)
    lines += datatypes(description)
    lines += prototypes(description)
    lines += ['#ifdef __cplusplus', '}', '#endif', '', '#endif']
    output.write('include/mpi.h', lines)


def status_struct(status):
    fields = [f'    int {field};' for field in status['fields']]
    return ['/* Status of a message or request: 8 int */', 'typedef struct {', *fields,
            f'    int {status["internal"]}[{status["internal_length"]}];', '} MPI_Status;', '']


def enumeration(name, group):
    values = list(group['values'].items())
    body = [f'    {n} = {c["value"]}{"," if i + 1 < len(values) else ""}' for i, (n, c) in enumerate(values)]
    return [f'/* {group["title"].split(":")[0]} */', f'typedef enum {name} {{', *body, f'}} {name};', '']


def callbacks(types):
    lines = ['/* Callback functions of the program */']
    for name, c in types['callbacks'].items():
        note = f' /* deprecated since MPI-{c["deprecated"]} */' if 'deprecated' in c else ''
        lines += wrapped(f'typedef {c["returns"]} {name}({c["parameters"]});{note}', ' ' * 8)
    for name, alias in types['aliases'].items():
        lines.append(f'typedef {alias["of"]} {name}; /* deprecated since MPI-{alias["deprecated"]} */')
    return lines + ['']


def literal(value, c_type, hexadecimal):
    number = f'0x{value:03x}' if hexadecimal else str(value)
    if c_type in LITERAL_TYPES:
        return number if value >= 0 else f'({number})'
    return f'(({c_type}){number})' if value >= 0 else f'(({c_type})({number}))'


def constants(group):
    width = max(len(name) for name in group['values'])
    lines = [f'/* {group["title"]} */']
    for name, c in group['values'].items():
        c_type = c.get('c_type', group.get('c_type'))
        note = f' /* deprecated since MPI-{c["deprecated"]} */' if 'deprecated' in c else ''
        value = literal(c['value'], c_type, c_type.startswith('MPI_') and c['value'] > 0xf)
        lines.append(f'#define {name:<{width}} {value}{note}')
    return lines + ['']


def datatypes(description):
    width = max(len(name) for name in description.datatypes)
    lines = ['/* Predefined datatypes */']
    for name, d in description.datatypes.items():
        says = d['type'] if 'type' in d else f'same as {d["synonym_of"]}' if 'synonym_of' in d else ''
        note = f' /* {says} */' if says else ''
        lines.append(f'#define {name:<{width}} {literal(d["value"], "MPI_Datatype", True)}{note}')
    return lines + ['']


def prototypes(description):
    lines = []
    for prefix in ('', 'P'):
        for stem, chapter in description.chapters.items():
            lines.append(f'/* {chapter["title"]}{", for profiling tools" if prefix else ""} */')
            for function in description.functions:
                if function.chapter == stem:
                    for name, large in function.forms():
                        lines += wrapped(c_prototype(description, function, prefix + name, large) + ';')
            lines.append('')
    return lines
