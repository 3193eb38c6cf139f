"""Writes, as rows of C++, all constants of the MPICH ABI that the front end for this ABI translates.

    make_table.py API_FOLDER OUTPUT

A row has the constant's name, its value in the MPICH ABI and in the standard's ABI, and the functions that
translate it. With these rows, the tests check what the generators of the front end have written. Therefore
this program uses none of the generators and reads the description (api/) itself.
"""
import fnmatch
import pathlib
import sys
import tomllib

api, output = map(pathlib.Path, sys.argv[1:3])


def load(name):
    return tomllib.loads((api / name).read_text())


kinds, groups, here = load("kinds.toml"), load("constants.toml"), load("mpich_abi/values.toml")
taken_for = {more["taken_for"]: more["value"] for more in here.pop("abi")["more_datatypes"].values()}
standard = {name: constant["value"] for group in groups.values()
            for name, constant in group["values"].items()}
value_here = {name: value for group in here.values() for name, value in group.items()}

lines = ["struct Number { const char *name; int64_t here, standard; int64_t (*in)(int64_t); "
         "int64_t (*out)(int64_t); };",
         "const Number numbers[] = {"]
crossing = set()
for kind, about in kinds.items():
    constants = about.get("constants", [])
    if isinstance(constants, str):
        continue
    for name in (n for pattern in constants for n in standard if fnmatch.fnmatchcase(n, pattern)):
        functions = [f"[](int64_t v) {{ return int64_t{{Abi::{kind}_{way}("
                     f"static_cast<{about['core']}>(v))}}; }}" for way in ("in", "out")]
        if name in value_here:
            lines.append(f'    {{"{name}", {value_here[name]}, {standard[name]}, {", ".join(functions)}}},')
            crossing.add(name)
lines += ["};", "",
          "struct Handle { const char *name; uint32_t here; int standard; int (*in)(uint32_t); "
          "uint32_t (*out)(int); };",
          "const Handle handles[] = {"]
datatypes = {name: d["value"] for name, d in load("datatypes.toml").items() if "value" in d}
for group in ("op", "comm", "group", "message", "info", "errhandler", "datatype"):
    c_type = groups[group]["c_type"] if group in groups else "MPI_Datatype"
    for name, value in here[group].items():
        crossing.add(name)
        if name.endswith("_NULL") or name in taken_for:
            continue
        table = f"HandleType<{c_type}>::predefined"
        lines.append(f'    {{"{name}", 0x{value:08x}, {standard.get(name, datatypes.get(name))}, '
                     f"[](uint32_t v) {{ return {table}.standard(v); }}, "
                     f"[](int v) {{ return {table}.bits(v); }}}},")
# These constants need no row. Some have translation functions of their own, some have the same value in both
# ABIs, and some are never passed as numbers.
apart = (set(here["buffer"]) | set(here["ignore"]) | set(here["length"]) | set(here["fortran_status"])
         | {n for n in value_here if n.endswith("_NULL")})
forgotten = [name for name in value_here if name not in crossing | apart]
if forgotten:
    raise SystemExit(f"no kind of parameter has these constants: {forgotten}")
output.write_text("\n".join([*lines, "};", ""]))
