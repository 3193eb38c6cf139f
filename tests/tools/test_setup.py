"""Tests tools/setup and 'make demo' on a machine with missing packages: what they print, what they run, and
that they stop with exit code 1.

dpkg-query, id, sudo and apt-get are replaced by small scripts on PATH, so nothing is installed here.
"""
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Machine:
    """A PATH with fake system commands, and a copy of what 'make demo' needs before it builds."""

    def __init__(self, folder):
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.log = folder / "apt.log"
        self.repository = folder / "repository"
        (self.repository / "tools").mkdir(parents=True)
        for name in ("Makefile", "tools/setup", "tools/packages.txt", "tools/requirements.txt"):
            shutil.copy(ROOT / name, self.repository / name)
        self.command("id", "echo 0")
        self.command("sudo", "exit 1")
        self.missing("cmake")
        self.command("apt-get", f'echo "$@" >>{self.log}')

    def command(self, name, script):
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def missing(self, *packages):
        words = " | ".join(packages) or "none"
        self.command("dpkg-query",
                     f'for p; do :; done\ncase $p in {words}) exit 1;; *) echo installed;; esac')

    def run(self, *command):
        environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"}
        environment.pop("MAKEFLAGS", None)
        return subprocess.run(command, cwd=self.repository, env=environment, capture_output=True, text=True,
                              check=False, timeout=60)


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_nothing_is_said_or_done_when_all_is_there(machine):
    machine.missing()
    done = machine.run("tools/setup", "build")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not machine.log.exists()


def test_root_installs_what_is_missing_and_says_so(machine):
    machine.missing("cmake", "libpng-dev")
    done = machine.run("tools/setup", "build")
    assert done.returncode == 0
    assert done.stdout == "lanyard: installing Debian packages: cmake libpng-dev\n"
    assert "install -y --no-install-recommends cmake libpng-dev" in machine.log.read_text()


def test_sudo_is_used_where_it_asks_no_password(machine):
    machine.command("id", "echo 1000")
    machine.command("sudo", '[ "$1" = -n ] && exit 0; exec "$@"')
    assert machine.run("tools/setup", "build").returncode == 0
    assert "cmake" in machine.log.read_text()


def test_demo_without_root_says_what_to_ask_for(machine):
    machine.command("id", "echo 1000")
    done = machine.run("make", "demo")
    assert done.returncode == 2  # make's own code for a failed recipe
    assert "these Debian packages are missing: cmake" in done.stderr
    assert ("Ask an administrator to run:\nlanyard:   apt-get install --no-install-recommends "
            "cmake\n") in done.stderr
    assert not machine.log.exists()


def test_demo_without_root_ends_setup_with_1(machine):
    machine.command("id", "echo 1000")
    assert machine.run("tools/setup", "build").returncode == 1


def test_demo_without_network_names_the_command(machine):
    machine.command("apt-get",
                    f'echo "$@" >>{machine.log}; echo "E: Temporary failure resolving host" >&2; exit 100')
    done = machine.run("tools/setup", "build")
    assert done.returncode == 1
    assert "E: Temporary failure resolving host" in done.stderr
    assert "is there a network" in done.stderr
    assert "apt-get install --no-install-recommends cmake\n" in done.stderr
    assert "update" in machine.log.read_text()


def test_another_distribution_is_told_what_corresponds(machine):
    commands = ("sh", "env", "dirname", "awk", "sort", "tr", "cat")
    for name in commands:
        (machine.bin / name).unlink(missing_ok=True)
        (machine.bin / name).symlink_to(shutil.which(name))
    (machine.bin / "dpkg-query").unlink()
    environment = {"PATH": str(machine.bin)}
    done = subprocess.run(["tools/setup", "build"], cwd=machine.repository, env=environment,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "this is not a Debian system" in done.stderr and "libcli11-dev" in done.stderr
    done = subprocess.run(["tools/setup", "build"], cwd=machine.repository,
                          env={**environment, "LANYARD_SETUP": "off"},
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_demo_needs_only_the_small_set(machine):
    machine.missing("valgrind", "libgtest-dev", "python3-dev")
    assert machine.run("tools/setup", "build").stdout == ""


def test_root_writes_hosts_for_the_tests_where_there_is_no_such_file(machine, monkeypatch):
    machine.missing()
    hosts = machine.folder / "hosts"
    monkeypatch.setenv("LANYARD_SETUP_HOSTS", str(hosts))
    for sets in (["build"], ["build", "test"], ["test"]):
        done = machine.run("tools/setup", *sets)
        first = sets == ["build", "test"]
        said = f"lanyard: writing {hosts}, which this system lacks\n" if first else ""
        assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
        assert hosts.exists() == ("test" in sets)
    assert hosts.read_text() == "127.0.0.1 localhost\n::1 localhost\n"


def test_others_than_root_write_no_hosts(machine, monkeypatch):
    machine.missing()
    machine.command("id", "echo 1000")
    hosts = machine.folder / "hosts"
    monkeypatch.setenv("LANYARD_SETUP_HOSTS", str(hosts))
    assert machine.run("tools/setup", "build", "test").returncode == 0
    assert not hosts.exists()
