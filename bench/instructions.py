"""Counts the instructions that calls execute, with valgrind's callgrind.

The program instruction-loops runs on two ranks of one node. Used by bench/run and by the test that checks the
bounds. The counts do not depend on the speed of the machine, and hardly on anything except the build. They
include user space only, not system calls.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import clean_environment, run_quietly

# calls in each loop, and in each loop of OF_MANY, as in instruction_loops.cc
CALLS, WINDOW_CALLS = 256, 50
OF_MANY = ("loop_of_isends", "loop_of_irecvs", "loop_of_waitall")
# {what a loop does: (its function, the rank that is counted)}
LOOPS = {
    "MPI_Send, 8 bytes": ("loop_of_send", 0),
    "MPI_Recv, the message is there": ("loop_of_recv", 1),
    "MPI_Isend and MPI_Wait": ("loop_of_isend_wait", 0),
    "MPI_Irecv and MPI_Wait, the message is there": ("loop_of_irecv_wait", 1),
    "MPI_Isend, of many": ("loop_of_isends", 0),
    "MPI_Waitall of these, for each": ("loop_of_waitall", 0),
    "MPI_Irecv, before the message": ("loop_of_irecvs", 1),
    "MPI_Waitall of these, for each that comes": ("loop_of_waitall", 1),
    "MPI_Send and MPI_Recv to oneself": ("loop_of_self_pair", 0),
    "MPI_Send and MPI_Recv with MPI_PROC_NULL": ("loop_of_null_pair", 0),
    "MPI_Gather, elsewhere": ("loop_of_gather_give", 0),
    "MPI_Gather at the root, all is there": ("loop_of_gather_take", 1),
    "MPI_Bcast at the root": ("loop_of_bcast_give", 0),
    "MPI_Bcast elsewhere, it is there": ("loop_of_bcast_take", 1),
    "MPI_Reduce, elsewhere": ("loop_of_reduce_give", 0),
    "MPI_Reduce at the root, all is there": ("loop_of_reduce_take", 1),
    "MPI_Scan at rank 0": ("loop_of_scan_give", 0),
    "MPI_Scan at rank 1, all is there": ("loop_of_scan_take", 1),
    "MPI_Exscan at rank 0": ("loop_of_exscan_give", 0),
    "MPI_Exscan at rank 1, all is there": ("loop_of_exscan_take", 1),
    "MPI_Gatherv, elsewhere": ("loop_of_gatherv_give", 0),
    "MPI_Gatherv at the root, all is there": ("loop_of_gatherv_take", 1),
    "MPI_Scatterv at the root": ("loop_of_scatterv_give", 0),
    "MPI_Scatterv elsewhere, it is there": ("loop_of_scatterv_take", 1),
    "MPI_Comm_rank": ("loop_of_comm_rank", 0),
}
VARIANTS = {"": ({}, []), "MPI_THREAD_MULTIPLE": ({}, ["threads"]),
            "LANYARD_PROGRESS=helper": ({"LANYARD_PROGRESS": "helper"}, [])}


def missing(build):
    """Returns the reason why nothing can be counted with this build, or ''."""
    if not shutil.which("valgrind"):
        return "valgrind is not installed"
    return ("" if (build / "bin" / "instruction-loops").exists() else
            f"there is no instruction-loops in {build}, which 'make bench' builds")


def loop_costs(profile):
    """Returns {loop: instructions in the MPI functions that it calls}, from a profile of callgrind."""
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--tree=calling", "--threshold=100",
                           profile], capture_output=True, text=True, check=True).stdout
    costs, loop = {}, None
    for line in text.splitlines():
        if not line.strip():
            loop = None
        elif found := re.match(r"\s*[\d,]+\s*\([^)]*\)\s+\*\s+\S*?:\(anonymous namespace\)::(loop_of_\w+)\(",
                               line):
            loop = found[1]
            costs.setdefault(loop, 0)  # if code of other files was inlined, a loop has several parts
        elif loop and (found := re.match(r"\s*([\d,]+)\s*\([^)]*\)\s+>\s+\S*?:P?MPI_\w+", line)):
            costs[loop] += int(found[1].replace(",", ""))
    return costs


def compile_loops(prefix, program):
    """Compiles the loops with the mpicxx of a build or an install, for any library with the same ABI."""
    source = Path(__file__).with_name("instruction_loops.cc")
    run_quietly([prefix / "bin" / "mpicxx", "-std=c++20", "-O2", "-g1", source, "-o", program],
                f"compiling {source}")


def count(build, environment=None, arguments=(), program=None):
    """Returns {what: instructions of one call} for a build folder, or for an install with its `program` of
    the loops."""
    with tempfile.TemporaryDirectory() as folder:
        profile = str(Path(folder) / "profile.%q{PMI_RANK}")
        command = [build / "bin" / "mpirun", "-n", "2",
                   "valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", "--quiet",
                   program or build / "bin" / "instruction-loops", Path(folder) / "progress", *arguments]
        variables = [f"{name}={value}" for name, value in (environment or {}).items()]
        if program:
            variables.append(f"LD_LIBRARY_PATH={build / 'lib'}")
        subprocess.run(["env", *variables, *map(str, command)], check=True, capture_output=True, text=True,
                       timeout=300, env=clean_environment())
        by_rank = [loop_costs(Path(folder) / f"profile.{rank}") for rank in (0, 1)]
    return {what: by_rank[rank][loop] / (WINDOW_CALLS if loop in OF_MANY else CALLS)
            for what, (loop, rank) in LOOPS.items()}


def columns_of(build):
    """Returns {variant: {what: instructions of one call}}."""
    return {name: count(build, *variant) for name, variant in VARIANTS.items()}


def table(columns):
    """Returns the counts of all variants as Markdown."""
    lines = ["### instructions", "",
             "Instructions of one call, by callgrind, two ranks of one node; the columns say what changes.",
             "", "| | MPI_THREAD_SINGLE | " + " | ".join(filter(None, VARIANTS)) + " |",
             "|---" * (len(VARIANTS) + 1) + "|"]
    for what in LOOPS:
        lines.append(f"| {what} | " + " | ".join(f"{column[what]:.0f}" for column in columns.values()) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/release").absolute()
    if reason := missing(folder):
        sys.exit(f"instructions: {reason}")
    print(table(columns_of(folder)))
