"""Whether two processors are two threads of one core or two cores at this moment; used by `bench/compare
--ours` beside each pair of runs.

A virtual machine may be moved from one to the other within minutes, and what is faster on one may be slower
on the other: so figures are only worth something together with this. bench/machine_state.cc measures two
numbers. A line is handed over in 60 to 80 ns within a core and in 250 ns and more between two, and 64 KiB
are copied in 3 us within a core and in 10 us between two; the bounds lie midway (geometrically). Where the
two disagree the state is called unclear: a short line with slow copies has been seen.
"""
import json
import subprocess
from pathlib import Path
from typing import NamedTuple

from peers import run_quietly

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCES = [REPOSITORY / "bench" / "machine_state.cc", REPOSITORY / "bench" / "programs" / "pin.cc"]
LONG_LINE_NS, SLOW_COPY_US = 140, 5.6
ONE_CORE, TWO_CORES = "one core with two threads", "two cores"
UNCLEAR = "unclear: the line and the copies disagree"
UNKNOWN, CHANGED = "not measured", "changed while it was measured"


class Look(NamedTuple):
    line_ns: float
    copy_us: float


def kind(look):
    """What one look (None: there was none) says of the machine."""
    if look is None:
        return UNKNOWN
    long_line, slow_copy = look.line_ns > LONG_LINE_NS, look.copy_us > SLOW_COPY_US
    return UNCLEAR if long_line != slow_copy else TWO_CORES if long_line else ONE_CORE


def kind_between(before, after):
    """Of what ran between two looks."""
    return kind(before) if kind(before) == kind(after) else CHANGED


def compile_program(folder):
    """The program, in this folder. The compiler is there, as it builds Lanyard."""
    program = Path(folder) / "machine-state"
    run_quietly(["c++", "-std=c++20", "-O2", "-I", REPOSITORY, "-I", REPOSITORY / "src", *SOURCES, "-o", program],
                "compiling bench/machine_state.cc")
    return program


def look(program):
    """One look, or None where nothing could be measured, as on one processor."""
    done = subprocess.run([program], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return Look(**json.loads(done.stdout)) if done.returncode == 0 else None
