"""Tests that README.md and the user pages to which it links contain only commands that work: the program must
compile and run, and targets and options must exist."""
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", "build/release")).absolute()
README, INSTALLING, TROUBLESHOOTING = (
    (ROOT / name).read_text() for name in ("README.md", "docs/installing.md", "docs/troubleshooting.md"))


def blocks(language, page=README):
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def commands(first_word, *pages):
    return [line for page in pages for block in blocks("sh", page) for line in block.splitlines()
            if line.split()[0] == first_word]


def shell(command, folder):
    environment = {**os.environ, "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=120, check=False)


def test_the_program_compiles_and_runs(tmp_path):
    program, = blocks("c")
    (tmp_path / "hello.c").write_text(program)
    before_python = README[:README.index("## Python")]
    for command in commands("mpicc", before_python) + commands("mpirun", before_python):
        done = shell(command, tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), command
    printed = [f"I am rank {rank} of 4; our ranks add up to 6" for rank in range(4)]
    assert sorted(done.stdout.splitlines()) == printed
    assert "".join(f"    {line}\n" for line in printed) in README


@pytest.mark.parametrize("command", commands("lanyard", TROUBLESHOOTING))
def test_each_lanyard_command_works(command, tmp_path):
    done = shell(command, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize("command", commands("make", README, INSTALLING))
def test_each_make_target_exists(command):
    target = command.split()[1]
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_settings_and_sweeps_of_the_page_on_tuning_exist():
    page = (ROOT / "docs" / "tuning.md").read_text()
    settings = shell("lanyard info --settings", ROOT).stdout
    assert all(f"{name}=" in settings for name in re.findall(r"LANYARD_[A-Z_]+", page))
    known = {line.split("=")[0] for line in shell("lanyard bench --sweep", ROOT).stdout.splitlines()}
    swept = re.findall(r"^lanyard bench (\w+) --sweep (\S+)$", page, re.MULTILINE)
    assert len(swept) == 4 and {setting for _, setting in swept} <= known
    assert {name for name, _ in swept} <= {line.split()[0]
                                           for line in shell("lanyard bench", ROOT).stdout.splitlines()}


def test_the_profile_on_its_page_ends_as_profiles_do():
    page = (ROOT / "docs" / "profile.md").read_text()
    assert re.search(r"^    The numbers of every rank are in lanyard-profile-[0-9a-f]{32}\.json\.$", page,
                     re.MULTILINE)


def test_each_file_named_exists():
    for name in re.findall(r"\]\((\S+\.md|LICENSE)\)", README) + ["examples/heat/heat.c"]:
        assert (ROOT / name).exists(), name


def test_options_of_mpirun_named_in_the_text_exist():
    text = shell("mpirun --help", ROOT).stdout
    for option in ("-x", "-l", "--timeout"):
        assert option in text
