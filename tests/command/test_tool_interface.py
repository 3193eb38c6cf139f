"""Tests that docs/tool-interface.md lists the variables, events and categories that the library has, and that
the control variables agree with `lanyard info --settings`."""
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", "build/release")).absolute()


def listed(*options, **settings):
    return subprocess.run([BUILD / "tests" / "mpi-tool-list", *options], env={**os.environ, **settings},
                          capture_output=True, text=True, check=True).stdout


def test_the_document_has_the_list_as_the_example_prints_it():
    document = (ROOT / "docs" / "tool-interface.md").read_text()
    assert document.split("## The list\n\n")[1] == listed(), \
        "the list has changed: put what BUILD/tests/mpi-tool-list prints at the end of docs/tool-interface.md"


def test_every_setting_is_a_control_variable_and_says_the_same():
    command = [BUILD / "bin" / "lanyard", "info", "--settings", "--json"]
    settings = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    rows = dict(re.findall(r"^\| `(LANYARD_\w+)` \|.*\| ([^|]*) \|$", listed(), re.MULTILINE))
    assert rows == {setting["name"]: setting["sentence"] for setting in settings}


def test_values_are_those_of_the_environment():
    out = listed("--values", LANYARD_EAGER_LIMIT="2k", LANYARD_CMA="off", LANYARD_LOG="info")
    assert re.search(r"`LANYARD_EAGER_LIMIT`.*\| 2048 \|", out)
    assert re.search(r"`LANYARD_CMA`.*\| 0 \|", out)
    assert re.search(r"`LANYARD_LOG`.*\| info \|", out)
