"""Builds the HPC Challenge benchmark from Debian's source package and runs it. Used by bench/run.

Lanyard, MPICH and Intel MPI run the same program, which is compiled with Lanyard's mpicc for the ABI of the
standard. Open MPI has another ABI, so it does not take part. HPCC runs HPL, PTRANS, RandomAccess, FFT and
measurements of latency and bandwidth in one job, and checks the results of each. BLAS is OpenBLAS with one
thread.
"""
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

import measure
import peers
import routes

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import archive  # noqa: E402

SOURCE = ("pool/main/h/hpcc/hpcc_1.5.0.orig.tar.gz",
          "0a6fef7ab9f3347e549fed65ebb98234feea9ee18aea0c8f59baefbe3cf7ffb8")
LIMIT_SECONDS = 600
# HPL's makefile for this machine. HPCC was written for MPI-1. The two functions that MPI-3 has removed have
# successors with the same parameters.
MAKEFILE = """SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -s
MKDIR = mkdir
RM = rm -f
TOUCH = touch
ARCH = $(arch)
TOPdir = ../../..
INCdir = $(TOPdir)/include
BINdir = $(TOPdir)/bin/$(ARCH)
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
HPL_DEFS = -DHPL_CALL_CBLAS -I$(INCdir) -I$(INCdir)/$(ARCH) -DMPI_Address=MPI_Get_address \\
  -DMPI_Type_struct=MPI_Type_create_struct
HPL_LIBS = $(HPLlib) -lopenblas -lm
CC = {mpicc}
CCNOOPT = $(HPL_DEFS)
CCFLAGS = $(HPL_DEFS) -O3 -march=native -w
LINKER = {mpicc}
LINKFLAGS =
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
"""
# The size of HPL's matrix, and its blocks. It determines the sizes of the other parts.
ORDER, BLOCK = 3000, 80
INPUT = """HPLinpack benchmark input file

HPL.out output file name (if any)
8 device out (6=stdout,7=stderr,file)
1 # of problems sizes (N)
{order} Ns
1 # of NBs
{block} NBs
0 PMAP process mapping (0=Row-,1=Column-major)
1 # of process grids (P x Q)
{rows} Ps
{columns} Qs
16.0 threshold
1 # of panel fact
2 PFACTs (0=left, 1=Crout, 2=Right)
1 # of recursive stopping criterium
4 NBMINs (>= 1)
1 # of panels in recursion
2 NDIVs
1 # of recursive panel fact.
1 RFACTs (0=left, 1=Crout, 2=Right)
1 # of broadcast
1 BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1 # of lookahead depth
1 DEPTHs (>=0)
2 SWAP (0=bin-exch,1=long,2=mix)
64 swapping threshold
0 L1 in (0=transposed,1=no-transposed) form
0 U in (0=transposed,1=no-transposed) form
1 Equilibration (0=no,1=yes)
8 memory alignment in double (> 0)
"""
# Row, the name in HPCC's summary, the factor, and the unit.
ROWS = (("HPL", "HPL_Tflops", 1e3, "GFLOP/s"),
        ("PTRANS", "PTRANS_GBs", 1, "GB/s"),
        ("MPIRandomAccess", "MPIRandomAccess_GUPs", 1e3, "MUP/s"),
        ("MPIRandomAccess, LCG", "MPIRandomAccess_LCG_GUPs", 1e3, "MUP/s"),
        ("MPIFFT", "MPIFFT_Gflops", 1, "GFLOP/s"),
        ("ring bandwidth, natural", "NaturallyOrderedRingBandwidth_GBytes", 1, "GB/s"),
        ("ring bandwidth, random", "RandomlyOrderedRingBandwidth_GBytes", 1, "GB/s"),
        ("ping-pong latency", "AvgPingPongLatency_usec", 1, "us"),
        ("ring latency, natural", "NaturallyOrderedRingLatency_usec", 1, "us"),
        ("ring latency, random", "RandomlyOrderedRingLatency_usec", 1, "us"))


def program(libraries):
    """Returns the path of the program. It is built once. Lanyard must be among the libraries."""
    folder = archive.ROOT / "build" / "hpcc"
    mpicc = libraries["lanyard"].home / "bin" / "mpicc"
    with peers.only_process(folder.with_suffix(".lock")):
        made, stamp = folder / "hpcc-1.5.0" / "hpcc", folder / "built"
        if made.exists() and stamp.exists() and stamp.read_text() == str(mpicc):
            return made
        try:
            source = archive.fetch(*SOURCE)
        except archive.Unavailable as problem:
            raise peers.Unavailable(f"HPCC could not be fetched: {problem}") from None
        peers.say(f"building HPCC 1.5.0 in {folder}")
        shutil.rmtree(folder, ignore_errors=True)
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        with tarfile.open(source) as packed:
            packed.extractall(folder, **safe)
        top = folder / "hpcc-1.5.0"
        (top / "hpl" / "Make.lanyard").write_text(MAKEFILE.format(mpicc=mpicc))
        peers.run_quietly(["make", "-C", top, "arch=lanyard"], "building HPCC")
        stamp.write_text(str(mpicc))
    return made


def run(library, ranks, path):
    """Returns (version, rows) as measure.run_json does."""
    version = measure.version(library)
    rows = next(rows for rows in range(int(ranks**0.5), 0, -1) if ranks % rows == 0)
    given = INPUT.format(order=ORDER, block=BLOCK, rows=rows, columns=ranks // rows)
    settings = {"OPENBLAS_NUM_THREADS": "1", "I_MPI_PIN": "off"}  # otherwise Intel's launcher pins too
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "hpccinf.txt").write_text(given)
        measure.run_inside(folder, routes.changed(library, settings).environ(),
                           [*library.launcher(ranks), *measure.pinning(ranks), str(path)], LIMIT_SECONDS)
        report = Path(folder) / "hpccoutf.txt"
        if not report.exists():
            raise measure.Failed("HPCC ended without its report, hpccoutf.txt")
        return version, read(report.read_text(errors="replace"))


def read(report):
    """Returns {row: (value, unit)} from hpccoutf.txt. A wrong result of any part is a failure."""
    if "Begin of Summary section." not in report:
        raise measure.Failed("HPCC's report has no summary")
    summary = dict(line.split("=", 1) for line in report.split("Begin of Summary section.")[1].splitlines()
                   if "=" in line)
    if summary.get("Success") != "1" or "FAILED" in report:
        raise measure.Failed("HPCC reports a wrong result")
    missing = [name for _, name, _, _ in ROWS if name not in summary]
    if missing:
        raise measure.Failed(f"HPCC's report lacks {', '.join(missing)}")
    rows = measure.Rows()
    rows.update({row: (factor * float(summary[name]), unit) for row, name, factor, unit in ROWS})
    return rows
