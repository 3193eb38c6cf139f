"""Tests include/mpi.h: the compiler checks every value, size, offset and prototype, in several C and C++
standards."""
import pathlib
import re
import shutil

import pytest

C_STANDARDS = ("c90", "c99", "c11", "gnu17")
CXX_STANDARDS = ("c++98", "c++11", "c++17", "c++20")
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
PROGRAM = ("#include <mpi.h>\n#include <mpi.h>\nint main(int argc, char **argv) { return MPI_Init(&argc, "
           "&argv); }\n")


def compilers(*names):
    """Parameters for each compiler. A compiler that is not installed is skipped, and the reason names it."""
    return [pytest.param(n, marks=pytest.mark.skipif(not shutil.which(n), reason=f"{n} is not installed"))
            for n in names]


@pytest.mark.parametrize("compiler", compilers("gcc", "clang"))
def test_clean_in_c(compile_c, compiler):
    for standard in C_STANDARDS:
        assert compile_c(PROGRAM, f"-std={standard}", "-Wstrict-prototypes", *STRICT,
                         compiler=compiler) == "", standard


@pytest.mark.parametrize("compiler", compilers("g++", "clang++"))
def test_clean_in_cxx(compile_c, compiler):
    for standard in CXX_STANDARDS:
        assert compile_c(PROGRAM, f"-std={standard}", *STRICT, compiler=compiler,
                         suffix=".cc") == "", standard


def value_check(name, value, c_type):
    """Returns static assertions of the value of a constant and, as far as C can check it, of its type."""
    plain = c_type.startswith("int") and "*" not in c_type or c_type == "MPI_Offset"
    number = name if plain else f"(intptr_t){name}"
    bare = c_type.removesuffix(" (macro)")
    return (f'_Static_assert({number} == {value}, "{name}");\n'
            f'_Static_assert(__builtin_types_compatible_p(__typeof__({name}), {bare}), "type of {name}");\n')


def test_values_of_the_description(compile_c, description):
    text = "#include <mpi.h>\n"
    for group in description.constants.values():
        for name, constant in group["values"].items():
            c_type = constant.get("c_type", group.get("c_type"))
            if c_type == "enum":
                text += f'_Static_assert({name} == {constant["value"]}, "{name}");\n'
            else:
                text += value_check(name, constant["value"], c_type)
    for name, datatype in description.datatypes.items():
        text += value_check(name, datatype["value"], "MPI_Datatype")
    assert compile_c(text, "-std=gnu11") == ""


def test_values_of_the_standard(compile_c, facts):
    text, count = "#include <mpi.h>\n", 0
    for row in facts("constants"):
        if row["in_abi_header"] == "yes" and row["in_mpi50_appendix_A"] == "yes":
            count += 1
            if row["c_type"] in ("MPI_T_cb_safety", "MPI_T_source_order"):
                text += f'_Static_assert({row["name"]} == {row["abi_value"]}, "{row["name"]}");\n'
            else:
                text += value_check(row["name"], row["abi_value"], row["c_type"])
    assert count == 364
    assert compile_c(text, "-std=gnu11") == ""


def test_nothing_else_is_defined(facts):
    """The header must define no constant that the standard does not have."""
    header = (pathlib.Path(__file__).resolve().parents[2] / "include" / "mpi.h").read_text()
    allowed = {row["name"] for row in facts("constants")} | {"MPI_H_ABI"}
    assert set(re.findall(r"^#define (\w+)", header, re.MULTILINE)) <= allowed


def test_types_of_the_standard(compile_c, facts):
    text = "#include <mpi.h>\n#include <stddef.h>\n"
    for row in facts("types"):
        name = row["name"]
        if row["in_abi"] != "yes":
            continue
        if row["kind"] == "callback typedef":
            returns, parameters = re.fullmatch(r"(\w+) \((.*)\)", row["representation"]).groups()
            text += (f'_Static_assert(__builtin_types_compatible_p({name}, {returns}({parameters})), '
                     f'"{name}");\n')
            continue
        text += (f'_Static_assert(sizeof({name}) == {row["size_lp64"]} && _Alignof({name}) == '
                 f'{row["align_lp64"]}, "{name}");\n')
        if row["kind"] in ("handle", "mpi_t handle"):
            structure = row["representation"].split("*")[0]
            text += f'_Static_assert(__builtin_types_compatible_p({name}, {structure} *), "{name}");\n'
        for field, offset in re.findall(r"int (\w+)(?:\[\d\])? @(\d+)", row["fields_with_offsets"]):
            text += f'_Static_assert(offsetof({name}, {field}) == {offset}, "{name}.{field}");\n'
        if row["kind"] == "integer":
            text += (f'_Static_assert(__builtin_types_compatible_p({name}, '
                     f'{row["representation"].split()[0]}), "{name}");\n')
    assert compile_c(text, "-std=gnu11") == ""


def test_prototypes_of_the_standard(compile_c, facts):
    """Each function is checked under both names. The expected prototype is that of the ABI's first header,
    except where the standard has a different one."""
    text, count = "#include <mpi.h>\n", 0
    for row in facts("functions"):
        if row["in_mpi50_standard"] == "yes":
            parameters = row["c_params_mpi50_if_different"] or row["c_params_abi_header"] or "void"
            count += 1
            for name in (row["name"], "P" + row["name"]):
                text += (
                    f'_Static_assert(__builtin_types_compatible_p(__typeof__({name}), '
                    f'{row["return_type"]}({parameters})), '
                    f'"{name}");\n')
    assert count == 662
    assert compile_c(text, "-std=gnu11") == ""


def test_a_wrong_prototype_would_be_noticed(compile_c):
    text = ('#include <mpi.h>\n_Static_assert(__builtin_types_compatible_p(__typeof__(MPI_Barrier), '
            'int(MPI_Win)), "noticed");\n')
    assert "noticed" in compile_c(text, "-std=gnu11")
