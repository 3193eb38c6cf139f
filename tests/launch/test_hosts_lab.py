"""Tests mpirun across the hosts of the lab (tests/lab). They have their own names, interfaces and logins."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from lab import Lab, missing  # noqa: E402

SSH = pathlib.Path(__file__).resolve().parents[1] / "lab" / "ssh"


@pytest.fixture(scope="module")
def lab():
    if reason := missing():
        pytest.skip(reason)
    with Lab(hosts=3) as made:
        yield made


@pytest.fixture
def run(lab, mpirun):
    """A function that returns (exit code, output, errors) of mpirun in h1."""
    def in_h1(*words, **keywords):
        # LANYARD_LAB is not needed in a host of the lab, and mpirun would report it as an unknown setting.
        done = lab.run("h1", ["env", "-u", "LANYARD_LAB", mpirun.path, "--ssh", SSH, *words], timeout=60,
                       **keywords)
        return done.returncode, done.stdout, done.stderr
    return in_h1


def test_every_host_has_its_ranks(run):
    code, out, err = run("--host", "h1:2,h2:2,h3", "-n", "5", "-l", "sh", "-c", "hostname; pwd")
    assert (code, err) == (0, "")
    names = ["h1", "h1", "h2", "h2", "h3"]
    assert sorted(out.splitlines()) == sorted(f"[{rank}] {text}" for rank in range(5)
                                              for text in (names[rank], os.getcwd()))


def test_hosts_are_entered_from_hosts(run):
    assert run("--fan-out", "1", "--host", "h2,h3,h1", "-n", "3", "--stdin", "2", "cat",
               input="typed") == (0, "typed", "")
    code, out, err = run("--fan-out", "1", "--host", "h3,h2", "-n", "2", "-l", "hostname")
    assert (code, sorted(out.splitlines()), err) == (0, ["[0] h3", "[1] h2"], "")


def test_failing_rank_is_placed(run):
    code, _, err = run("--host", "h1,h2,h3", "-n", "3", "sh", "-c",
                       "test $(hostname) = h3 && kill -9 $$; exec sleep 1000")
    assert code == 137
    assert (err.startswith("mpirun: rank 2 (sh, process ") and
            err.endswith(" on h3) was killed by signal 9 (SIGKILL: Killed)\n"))


@pytest.mark.parametrize(("mode", "words"), [("refuse", "refuses the login"), ("ask", "refuses the login"),
                                             ("unreachable", "cannot be reached")])
def test_unfriendly_hosts_are_named(run, lab, mode, words):
    lab.set("h3", ssh=mode)
    code, out, err = run("--host", "h2,h3", "-n", "2", "echo", "x")
    lab.set("h3", ssh="normal")
    assert (code, out) == (1, "")
    assert words in err and err.count("\n") == 1 and err.startswith("mpirun: host h3 ")
