"""Measures the cost of choosing among several interfaces. Used by bench/run.

One of the interfaces is slow, one is dead, and one has the same address on both hosts.

Two hosts of a lab run tests/lab/programs/bulk.c, compiled with Lanyard's mpicc. It measures the time of the
first message after MPI_Init and that of a large message, once with the fast interface alone and once with all
interfaces. tests/lab/test_addresses.py tests which interface is chosen, without judging times.
"""
import re
import subprocess
import tempfile
from pathlib import Path

import routes
from measure import RUN_LIMIT_SECONDS, Failed, version

PROGRAM = routes.REPOSITORY / "tests" / "lab" / "programs" / "bulk.c"
MIB = 64
FAST, SLOW = "1gbit", "100mbit"
ALONE, EVERY = "by the fast one alone", "by every interface"


def run_rails(library):
    """Returns the rows of both cases, in the form of measure.run_json."""
    rows = {}
    with tempfile.TemporaryDirectory() as folder, routes.make_lab(hosts=2, rails=2, rate=FAST) as lab:
        lab.twin(*lab.hosts)
        lab.dead(*lab.hosts)
        lab.set(rail=2, rate=SLOW)
        program = Path(folder) / "bulk"
        subprocess.run([library.home / "bin" / "mpicc", "-O2", "-o", program, PROGRAM], check=True)
        for name, settings in ((ALONE, {"LANYARD_INTERFACES": "rail1"}), (EVERY, {})):
            words = [*routes.lab_launcher(library, 2), program, MIB]
            environment = {**library.environ(), "LANYARD_LAB": lab.name, **settings}
            done = subprocess.run(lab.command("h1", list(map(str, words))), env=environment,
                                  capture_output=True, text=True, timeout=RUN_LIMIT_SECONDS, check=False)
            found = re.search(r"first ([\d.]+) ms\nbulk ([\d.]+) MB/s", done.stdout)
            if not found:
                raise Failed(f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-200:]}")
            rows[f"first message {name}"] = (float(found[1]), "ms")
            rows[f"bulk {name}"] = (float(found[2]), "MB/s")
    return version(library), rows
