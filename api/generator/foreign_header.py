"""Generates a C header with the values of an ABI other than the standard's.

The tests compile programs with this header. So these programs are like programs that the compiler wrapper of
another MPI library has compiled with the library's own header. In this way every program of tests/mpi also
runs through the front end for that ABI. The header is not installed, because users have the header of their
MPI library.
"""

from .description import c_prototype
from .header import callbacks, literal
from .text import NOTICE, wrapped


def generate(abi, description, output):
    types = description.types
    lines = [f'/* The C interface with the values of the {abi.title}, for tests of {abi.library}.',
             f'   {NOTICE} */',
             '#ifndef LANYARD_TESTS_MPI_H', '#define LANYARD_TESTS_MPI_H', '', '#include <stdint.h>', '',
             '#ifdef __cplusplus', 'extern "C" {', '#endif', '']
    lines += [f'typedef {c_type} {name};' for name, c_type in types['integers'].items()]
    lines += ['typedef int MPI_Fint;', '']
    lines += [f'typedef int {name};' if name in abi.object_kinds else f'typedef struct {h["struct"]} *{name};'
              for name, h in types['handles'].items()]
    lines += [f'typedef struct {h["struct"]} *{name};' for name, h in types['tool_handles'].items()] + ['']
    lines += ['typedef struct MPI_Status {', *[f'    {field};' for field in abi.status], '} MPI_Status;', '']
    for name, group in types['enums'].items():
        values = abi.groups[group].items()
        lines += [f'typedef enum {name} {{', *[f'    {constant} = {value},' for constant, value in values],
                  f'}} {name};', '']
    lines += callbacks(types)
    for name, group in description.constants.items():
        if group.get('c_type') != 'enum' and name not in ('callback', 'tool_handle'):
            lines += constants(abi, name, group)
    lines += functions_as_constants(description) + variables() + datatypes(abi, description)
    for prefix in ('', 'P'):
        for function in abi.functions:
            for name, large in function.forms():
                lines += wrapped(c_prototype(description, function, prefix + name, large) + ';')
        lines.append('')
    lines += ['#ifdef __cplusplus', '}', '#endif', '', '#endif']
    output.write(f'tests/{abi.name}/include/mpi.h', lines)


def constants(abi, name, group):
    standard = {constant: c['value'] for constant, c in group['values'].items() if 'ABI' not in constant}
    here = abi.groups.get(name, standard)
    lines = [f'/* {group["title"]} */']
    for constant, value in here.items():
        c_type = group['values'][constant].get('c_type', group.get('c_type'))
        lines.append(f'#define {constant} {literal(value, c_type, value > 0xffff)}')
    return lines + ['']


def functions_as_constants(description):
    lines = ['/* Predefined callbacks */', 'int MPIR_Dup_fn(MPI_Comm, int, void *, void *, void *, int *);']
    for name, c in description.constants['callback']['values'].items():
        lines.append(f'#define {name} (({c["c_type"]}){"MPIR_Dup_fn" if c["value"] else 0})')
    return lines + ['']


def variables():
    return ['/* Variables */', 'extern int *const MPI_UNWEIGHTED;', 'extern int *const MPI_WEIGHTS_EMPTY;',
            'extern struct MPI_ABI_T_pvar_handle *const MPI_T_PVAR_ALL_HANDLES;',
            'extern MPI_Fint *MPI_F_STATUS_IGNORE;', 'extern MPI_Fint *MPI_F_STATUSES_IGNORE;',
            *[f'#define MPI_T_{kind}_NULL ((MPI_T_{kind.lower()})0)'
              for kind in ('ENUM', 'CVAR_HANDLE', 'PVAR_SESSION', 'PVAR_HANDLE')], '']


def datatypes(abi, description):
    here = {**abi.groups['datatype'], **abi.markers}
    null = here['MPI_DATATYPE_NULL']
    return ['/* Predefined datatypes */',
            *[f'#define {name} ((MPI_Datatype)0x{here.get(name, null):08x})'
              for name in [*description.datatypes, *abi.markers]], '']
