"""Tests that the description of MPI is complete, and that everything generated from it is up to date."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_generated_files_are_what_the_description_gives():
    done = subprocess.run([sys.executable, ROOT / "api" / "generate", "--check"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_generating_elsewhere_gives_the_same_files(tmp_path):
    subprocess.run([sys.executable, ROOT / "api" / "generate", "--root", tmp_path], check=True)
    made = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(made) > 25
    for path in made:
        assert path.read_text() == (ROOT / path.relative_to(tmp_path)).read_text(), path


def test_number_of_functions(description):
    names = [name for function in description.functions for name, _large in function.forms()]
    assert len(names) == len(set(names)) == 662
    assert sum(name.endswith("_c") for name in names) == 159


def test_every_function_says_what_it_does(description):
    for function in description.functions:
        assert re.fullmatch(r"[A-Z].*\.", function.says), function.name
        assert re.fullmatch(r"\d\.\d", function.since), function.name


def test_generators_know_no_function_by_name(description):
    names = {name for function in description.functions for name, _large in function.forms()}
    for path in [ROOT / "api" / "generate", *(ROOT / "api" / "generator").glob("*.py")]:
        found = set(re.findall(r"\bP?(MPI_\w+)", path.read_text())) & names
        assert not found, f"{path.name} names {sorted(found)}"


def test_functions_and_kinds_are_those_of_the_standard(description, facts):
    wanted = {row["name"]: row for row in facts("functions") if row["in_mpi50_standard"] == "yes"}
    described = {name: function for function in description.functions for name, _large in function.forms()}
    assert set(described) == set(wanted)
    for name, row in wanted.items():
        if not row["large_count_of"]:
            deprecated = re.match(r"deprecated-MPI-(.*)", row["status"])
            assert described[name].since == row["mpi_version"], name
            assert described[name].deprecated == (deprecated[1] if deprecated else None), name
            assert described[name].returns == row["return_type"], name


def test_datatypes_are_those_of_the_standard(description, facts):
    for row in facts("datatypes"):
        ours = description.datatypes[row["name"]]
        assert ours["value"] == int(row["abi_value"]), row["name"]
        if "element" not in ours:
            continue
        assert ours["size"] == int(row["size_x86_64_lp64"]), row["name"]
        assert ours.get("extent", ours["size"]) == int(row["extent_x86_64_lp64"]), row["name"]
        assert ours["alignment"] == int(row["align_x86_64_lp64"] or ours["alignment"]), row["name"]
        assert ours.get("optional", False) == (row["required_or_optional"] == "optional"), row["name"]
        allowed = {"MPI_" + op for op in row["predefined_ops_allowed"].split()}
        assert set(description.reductions.get(ours.get("group"), [])) == allowed, row["name"]
