"""A C header with the values of another ABI, by which the tests compile programs as that ABI's own compiler wrapper would: with it
every program of tests/mpi runs through that door too. It is not installed: users have the header of their MPI."""

from .description import c_prototype
from .header import callbacks, literal
from .text import NOTICE, wrapped


def generate(abi, description, output):
    types = description.types
    lines = [f'/* The C interface with the values of the {abi.title}, for tests of {abi.library}.', f'   {NOTICE} */',
             '#ifndef LANYARD_TESTS_MPI_H', '#define LANYARD_TESTS_MPI_H', '', '#include <stdint.h>', '',
             '#ifdef __cplusplus', 'extern "C" {', '#endif', '']
    lines += [f'typedef {c_type} {name};' for name, c_type in types['integers'].items()] + ['typedef int MPI_Fint;', '']
    lines += [f'typedef int {name};' if name in abi.object_kinds else f'typedef struct {h["struct"]} *{name};'
              for name, h in types['handles'].items()]
    lines += [f'typedef struct {h["struct"]} *{name};' for name, h in types['tool_handles'].items()] + ['']
    lines += ['typedef struct MPI_Status {', *[f'    {field};' for field in abi.status], '} MPI_Status;', '']
    for name, group in types['enums'].items():
        lines += [f'typedef enum {name} {{', *[f'    {constant} = {value},' for constant, value in abi.groups[group].items()], f'}} {name};', '']
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
    here = abi.groups.get(name, {constant: c['value'] for constant, c in group['values'].items() if 'ABI' not in constant})
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
            'extern struct MPI_ABI_T_pvar_handle *const MPI_T_PVAR_ALL_HANDLES;', 'extern MPI_Fint *MPI_F_STATUS_IGNORE;',
            'extern MPI_Fint *MPI_F_STATUSES_IGNORE;',
            *[f'#define MPI_T_{kind}_NULL ((MPI_T_{kind.lower()})0)' for kind in ('ENUM', 'CVAR_HANDLE', 'PVAR_SESSION', 'PVAR_HANDLE')], '']


def datatypes(abi, description):
    here = {**abi.groups['datatype'], **abi.markers}
    return ['/* Predefined datatypes */', *[f'#define {name} ((MPI_Datatype)0x{here.get(name, here["MPI_DATATYPE_NULL"]):08x})'
                                            for name in [*description.datatypes, *abi.markers]], '']
