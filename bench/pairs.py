"""Runs two builds of Lanyard in pairs. Used by `bench/compare --ours`.

Only the libraries are compared, so both builds run the same benchmark programs: those of A, or those of B if
A has none. The programs need only the standard's ABI. Each build is used as a whole, because its parts
communicate by private protocols: its mpirun starts the programs, and its `lib` is the only folder that they
search. The libraries that the programs load are checked before anything is measured. As in every comparison
here, ranks are pinned if there is a processor for each rank.

In a round, every program runs once on every path and on each build. The two runs of a pair follow each other
without a pause, and their order alternates between rounds. Rounds are the outermost loop. The samples of each
figure are therefore spread over the whole time and over all states of the machine. verdicts.py judges the
pairs.
"""
import shutil
import tempfile
from pathlib import Path

import instructions
import machine_state
import measure
import peers
from verdicts import Cell, Pair

METRICS = {
    "latency": ["--sizes", "8,1k,8k,64k,1M"],
    "rate": ["--sizes", "8"],
    "bandwidth": ["--sizes", "16k,64k,256k,1M"],
}
# The value of LANYARD_PATHS for each path. TCP and datagrams use loopback.
PATHS = {"shm": "self,shm", "tcp": "self,tcp", "dgram": "self,dgram"}
BLOCKS = ["--blocks", "5"]
GIVE_UP_AFTER = 3  # a cell that has failed this many times without any pair is given up
LIBRARIES = ("libmpi_abi.so.1", "liblanyard.so.0")


def check_prefix(prefix):
    """Returns the absolute path of a build or an install. Raises Unavailable if the folder is neither."""
    prefix = Path(prefix).resolve()
    if not prefix.is_dir():
        raise peers.Unavailable(f"there is no folder {prefix}: give that of a build or an install of "
                                "Lanyard, which has bin and lib")
    for needed in ("bin/mpirun", *(f"lib/{name}" for name in LIBRARIES)):
        if not (prefix / needed).exists():
            raise peers.Unavailable(f"there is no {needed} under {prefix}: give the folder of a whole build "
                                    "or install of Lanyard")
    return prefix


def find_programs(prefixes, metrics):
    """Returns the folder of the benchmark programs that both builds run."""
    folders = [prefix / "libexec" / "lanyard" for prefix in prefixes]
    for folder in folders:
        if all((folder / f"bench-{metric}").exists() for metric in metrics):
            return folder
    raise peers.Unavailable(f"neither {folders[0]} nor {folders[1]} has bench-{' and bench-'.join(metrics)}; "
                            "build one with -DLANYARD_BENCH=ON")


def library_of(key, prefix, programs):
    launcher = str(prefix / "bin" / "mpirun")
    return peers.Library(key, key, prefix, programs, lambda ranks: [launcher, "-n", str(ranks)],
                         {"LD_LIBRARY_PATH": str(prefix / "lib")})


def check_whole(library, program):
    """Refuses a build whose program would load libraries from elsewhere, according to the dynamic linker's
    list."""
    command = [*library.launcher(1), "env", "LD_TRACE_LOADED_OBJECTS=1", str(program)]
    try:
        words = [line.split() for line in measure.run_command(library, command).splitlines()]
    except (measure.Failed, OSError) as problem:
        raise peers.Unavailable(f"{library.home}/bin/mpirun cannot start a program: {problem}") from None
    loaded = {line[0]: Path(line[2]).resolve() for line in words if len(line) > 2 and line[1] == "=>"}
    for name in LIBRARIES:
        if loaded.get(name) != (library.home / "lib" / name).resolve():
            raise peers.Unavailable(f"{program} under {library.home}/bin/mpirun loads {name} from "
                                    f"{loaded.get(name, 'nowhere')}, not from {library.home}/lib; "
                                    f"so {library.home} cannot be measured")


class Runs:
    """Makes the runs and stores their results."""

    def __init__(self, a, b, cells, look, patience):
        self.builds = [a, b]
        self.cells = cells
        self.look = look  # () -> machine_state.Look or None
        self.patience = patience
        self.pairs = []
        self.busy = []
        self.versions = {}
        self.failures = {}  # {cell: [words]}

    def run_all(self, rounds):
        for number in range(rounds):
            self.busy.append(measure.wait_until_quiet(self.patience))
            order = self.builds if number % 2 == 0 else self.builds[::-1]
            before = self.look()
            for cell in self.cells:
                if self.is_hopeless(cell):
                    continue
                rows = self.run_pair(cell, order)
                after = self.look()
                if rows:
                    self.pairs.append(Pair(number + 1, cell, order[0].key, **rows, before=before,
                                           after=after))
                before = after
            peers.say(f"round {number + 1} of {rounds}: {machine_state.kind(before)}")

    def is_hopeless(self, cell):
        failures = len(self.failures.get(cell, []))
        return failures >= GIVE_UP_AFTER and not any(pair.cell == cell for pair in self.pairs)

    def run_pair(self, cell, order):
        """Returns {'a': rows, 'b': rows}, or None if one of the two runs failed."""
        rows = {}
        for build in order:
            try:
                self.versions[build.key], rows[build.key.lower()] = run_once(build, cell)
            except measure.Failed as problem:
                self.failures.setdefault(cell, []).append(f"{build.key}: {problem}")
                return None
        return rows


def run_once(build, cell):
    pinned = ["--pin"] if peers.processors() >= 2 else []
    on_path = peers.Library(build.key, build.title, build.home, build.programs, build.launcher,
                            {**build.environment, "LANYARD_PATHS": PATHS[cell.path]})
    return measure.run_json(on_path, 2, cell.metric, [*METRICS[cell.metric], *BLOCKS, *pinned])


def count_both(a, b):
    """Returns {variant: ({call: instructions} of A, the same of B)}. The loops are compiled once, with A's
    mpicxx."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "instruction-loops"
        instructions.compile_loops(a.home, program)
        for build in (a, b):
            check_whole(build, program)
        return {name or "MPI_THREAD_SINGLE":
                tuple(instructions.count(build.home, *variant, program=program) for build in (a, b))
                for name, variant in instructions.VARIANTS.items()}


def why_no_counts(a):
    """Returns the reason why instructions cannot be counted, or ''."""
    if not shutil.which("valgrind"):
        return "valgrind is not installed"
    if not (a.home / "bin" / "mpicxx").exists():
        return f"there is no bin/mpicxx under {a.home} to compile their loops with"
    return ""


def cells_of(metrics, paths):
    return [Cell(metric, path) for path in paths for metric in METRICS if metric in metrics]
