"""Runs jobs on the hosts of a lab, for tests of failures between hosts.

mpirun runs in h1, the programs are those of tests/failures, and processes can be found and killed.
"""
import contextlib
import os
import pathlib
import subprocess
import time

from .system import processes_in

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", HERE.parents[1] / "build" / "release"))
PROGRAMS = HERE.parent / "failures" / "programs"


class Hosts:
    """mpirun in h1 of a lab. After every test, no process may be left in the hosts."""

    def __init__(self, lab, folder):
        self.lab, self.folder = lab, folder

    def program(self, name):
        program = self.folder / name
        if not program.exists():
            subprocess.run([BUILD / "bin" / "mpicc", "-O2", "-o", program, PROGRAMS / f"{name}.c"],
                           check=True)
        return program

    def start(self, *words, environment=None):
        # A process in a host finds its lab without LANYARD_LAB. The variable is removed, because it is no
        # setting of Lanyard.
        unset = [f"--unset={name}" for name in {*os.environ, "LANYARD_LAB"} if name.startswith("LANYARD_")]
        values = dict(environment or {})
        # Only the ranks get the short time-out: on a busy machine, mpirun's agents may take longer to start.
        patience = [word for name in ("LANYARD_PEER_TIMEOUT",) if name in values
                    for word in ("-genv", name, values.pop(name))]
        values = [f"{name}={value}" for name, value in values.items()]
        command = ["env", *unset, *values, BUILD / "bin" / "mpirun", "--ssh", HERE / "ssh", *patience, *words]
        return self.lab.popen("h1", list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)

    def run(self, *words, environment=None, timeout=120):
        process = self.start(*words, environment=environment)
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err

    def processes(self, host):
        """Maps the id of each process in a host to its command line."""
        found = {}
        for pid in processes_in(self.lab.namespace(host)):
            with contextlib.suppress(OSError):
                found[pid] = (pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                              .replace(b"\0", b" ").decode(errors="replace").strip())
        return {pid: words for pid, words in found.items() if words}

    def wait_for(self, host, words):
        """The id of the process of a host whose command line ends with `words`."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for pid, line in self.processes(host).items():
                if line.endswith(words) and not line.startswith(("/bin/sh", "env ", "sh ")):
                    return pid
            time.sleep(0.01)
        raise AssertionError(f"nothing like '{words}' runs on {host}: {self.processes(host)}")

    def expect_nothing_left(self):
        end = time.monotonic() + 60
        while left := {host: found for host in self.lab.hosts if (found := self.processes(host))}:
            assert time.monotonic() < end, f"processes were left: {left}"
            time.sleep(0.05)
