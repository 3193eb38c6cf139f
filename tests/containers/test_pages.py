"""Checks as much of docs/ci.md and the Dockerfile as is possible without running them. test_containers.py
runs them in a Debian."""
import pathlib
import re
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import dockerfile  # noqa: E402
import pages  # noqa: E402

ROOT = HERE.parents[1]
CI = (ROOT / "docs" / "ci.md").read_text()
DOCKERFILE = (ROOT / "examples" / "docker" / "Dockerfile").read_text()


def test_yaml_is_read():
    text = "a: b c\nd:\n  - e: f: g\n    h: |\n      one\n        two\n  - i\n  - |\n    three\nj:\n  k: l\n"
    assert pages.Yaml(text).load() == {
        "a": "b c", "d": [{"e": "f: g", "h": "one\n  two\n"}, "i", "three\n"], "j": {"k": "l"}}
    with pytest.raises(AssertionError, match="not understood"):
        pages.Yaml("a: b\n  c: d\n").load()


def test_both_services_run_the_same_lines():
    github, gitlab = (pages.Yaml(block).load() for block in pages.blocks(CI, "yaml"))
    steps = {step.get("name"): step["run"] for step in github["jobs"]["test"]["steps"] if "run" in step}
    there = {**gitlab["test"]}
    assert there["variables"] == github["env"] and there["image"] == github["jobs"]["test"]["container"]
    assert [*steps["Packages"].splitlines()] == there["before_script"][:2]
    assert steps["Test"].splitlines() == there["script"]
    build = [line.strip() for line in there["before_script"][2].splitlines()[1:-1]]
    assert build == steps["Build Lanyard"].replace("/opt/lanyard", '"$PWD/.lanyard"').splitlines()
    assert there["cache"]["paths"] == [".lanyard/"]


def test_the_dockerfile_has_what_is_understood_and_ends_as_a_user():
    words = [word for word, _ in dockerfile.instructions(DOCKERFILE)]
    assert all(hasattr(dockerfile.Build, f"do_{word.lower()}") for word in words)
    assert words.count("FROM") == 2 and ("USER", "user") in dockerfile.instructions(DOCKERFILE)
    command = "docker build --tag lanyard --file examples/docker/Dockerfile ."
    assert command in DOCKERFILE and command in CI


@pytest.mark.parametrize(("name", "out"), [
    ("build/release/lib/x.so", True), (".git/HEAD", True), ("heat.png", True), ("tools/__pycache__/x", True),
    ("src/build/x", False), (".gitignore", False), ("tools/setup", False), ("examples/heat/heat.c", False)])
def test_what_was_built_here_stays_out_of_an_image(name, out):
    assert dockerfile.left_out(name, dockerfile.patterns_of((ROOT / ".dockerignore").read_text())) == out


def test_the_page_is_linked_and_names_what_there_is():
    assert "(docs/ci.md)" in (ROOT / "README.md").read_text()
    for name in re.findall(r"\]\((\.\./\S+|\S+\.md)\)", CI):
        assert (ROOT / "docs" / name).exists(), name
