"""Runs mpi4py's own tests: built from source with 1 to 5 ranks, as PyPI's wheel, over datagrams that are
lost, duplicated, reordered and damaged (tests/harmed.py), and, as root, on two hosts of a lab. tests/mpi4py
pins the version and lists the tests that are left out."""
import os
import pathlib
import subprocess
import sys

import junit

ROOT = pathlib.Path(__file__).resolve().parents[3]
RESULTS = ROOT / "build" / "judges" / "mpi4py"
RUNS = ("--ranks 1,2,3,4,5", "--ranks 2,3,4 --wheel", "--ranks 2,3,4 --harmed", "--ranks 2,3,4 --lab")


def run(build, only=""):
    """The cases of all runs, or of the tests whose name contains `only`."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    cases = []
    for options in RUNS:
        if "--lab" in options and os.geteuid() != 0:
            cases.append(junit.Case("mpi4py", "--lab", "skipped", "only root can make a lab", ""))
            continue
        report = RESULTS / f"{options.split('--')[-1].split()[0]}.xml"
        report.unlink(missing_ok=True)
        words = [sys.executable, ROOT / "tests" / "mpi4py" / "run", "--build", build, "--report", report,
                 *options.split()]
        chosen = ["--tests", only] if only else []
        subprocess.run([str(word) for word in [*words, *chosen]], cwd=ROOT, check=False)
        if report.exists():
            cases += junit.read(report, "mpi4py")
        else:
            cases.append(junit.Case("mpi4py", options, "failed", "it wrote no report (see above)", ""))
    return cases
