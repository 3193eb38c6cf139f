"""Runs Intel's MPI benchmarks (IMB-MPI1) on a library. Used by bench/run.

Lanyard, MPICH and Intel MPI run the same program, the one in Intel's package, through libmpi.so.12. Open MPI
has another ABI, so it does not take part. A row is a benchmark and a message size. Its time is IMB's
`t[usec]` (of PingPong and PingPing) or `t_max[usec]`, the mean over the repetitions on the slowest rank.
"""
import re

import measure
import peers
import routes

# Short names in the order in which IMB runs them.
POINT_TO_POINT = ("PingPong", "PingPing", "Sendrecv", "Exchange")
COLLECTIVE = ("Allreduce", "Reduce", "Bcast", "Allgather", "Alltoall", "Barrier")
BENCHMARKS = POINT_TO_POINT + COLLECTIVE
# 0 bytes, and powers of two up to 4 MiB.
SIZES = "0:22"
# At most so many repetitions of each size, and so many seconds for a size on average. IMB gives up the sizes
# for which the time of a benchmark is not enough. Where ranks outnumber processors, some libraries need 20 ms
# for one repetition, and IMB prints nothing if the repetitions that it plans first take too long.
REPETITIONS, SECONDS = 1000, 0.1
CROWDED_REPETITIONS, CROWDED_SECONDS = 20, 0.4
LIMIT_SECONDS = 600
HEADING = re.compile(r"# Benchmarking (\w+)")
COLUMNS = re.compile(r"\s*(#bytes\s+)?#repetitions\s+(t.*)")


def program(libraries):
    """Returns the path of IMB-MPI1, which is part of the package of Intel MPI."""
    home = libraries["impi"].home if "impi" in libraries else peers.install_peer("impi", peers.CACHE)
    return home / "bin" / "IMB-MPI1"


def benchmarks(library):
    """Returns the names of the benchmarks that this library runs.

    Intel MPI's collectives within a node use shared memory even if its fabric is a network.
    """
    return POINT_TO_POINT if library.environment.get("I_MPI_FABRICS") == "ofi" else BENCHMARKS


def command(library, ranks, path):
    crowded = ranks > peers.processors()
    repetitions = CROWDED_REPETITIONS if crowded else REPETITIONS
    seconds = CROWDED_SECONDS if crowded else SECONDS
    options = ["-npmin", str(ranks), "-msglog", SIZES, "-iter", str(repetitions), "-time", str(seconds)]
    return [*library.launcher(ranks), *measure.pinning(ranks), str(path), *benchmarks(library), *options]


def run(library, ranks, path):
    """Returns (version, rows) as measure.run_json does."""
    version = measure.version(library)
    library = routes.changed(library, {"I_MPI_PIN": "off"})  # otherwise Intel's launcher pins too
    rows = read(measure.run_command(library, command(library, ranks, path), LIMIT_SECONDS))
    missing = [name for name in benchmarks(library) if not any(row[0] == name for row in rows)]
    if missing:
        raise measure.Failed(f"IMB-MPI1 printed nothing for {', '.join(missing)}")
    return version, rows


def read(output):
    """Returns {(benchmark, bytes): (microseconds, "us")} from what IMB prints.

    A barrier has 0 bytes. A size for which the time was not enough has no figure.
    """
    rows, name, columns = measure.Rows(), None, None
    for line in output.splitlines():
        if found := HEADING.match(line):
            name, columns = found[1], None
        elif found := COLUMNS.fullmatch(line):
            columns = (["bytes"] if found[1] else []) + ["repetitions", *found[2].split()]
        elif columns and (words := line.split()) and words[0].isdigit():
            if "time-out" in line:
                continue
            if len(words) != len(columns):
                raise measure.Failed(f"IMB-MPI1 printed a line with {len(words)} instead of {len(columns)} "
                                     f"numbers: {line.strip()}")
            figures = dict(zip(columns, words))
            time = figures.get("t_max[usec]", figures.get("t[usec]"))
            rows[name, int(figures.get("bytes", 0))] = (float(time), "us")
        elif not line.strip():
            columns = None
    return rows
