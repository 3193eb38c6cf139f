"""Tests the cost of short messages on a node, in instructions counted by callgrind.

The release build is named by LANYARD_BUILD. The bounds do not depend on the machine's speed, so they reveal a
change that makes the fast path longer.
"""
import os
import pathlib
import sys

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import instructions  # noqa: E402

BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", "build/release")).absolute()
# The most instructions of a call, or of both calls of a pair. The bounds are a little above the present
# counts, which are in bench/results/instructions.json.
BOUNDS = {
    "MPI_Send, 8 bytes": 205,
    "MPI_Recv, the message is there": 395,
    "MPI_Isend and MPI_Wait": 345,
    "MPI_Irecv and MPI_Wait, the message is there": 570,
    "MPI_Isend, of many": 240,
    "MPI_Waitall of these, for each": 70,
    "MPI_Irecv, before the message": 240,
    "MPI_Waitall of these, for each that comes": 315,
    "MPI_Send and MPI_Recv to oneself": 790,
    "MPI_Send and MPI_Recv with MPI_PROC_NULL": 215,
    "MPI_Gather, elsewhere": 690,
    "MPI_Gather at the root, all is there": 685,
    "MPI_Bcast at the root": 630,
    "MPI_Bcast elsewhere, it is there": 480,
    "MPI_Reduce, elsewhere": 730,
    "MPI_Reduce at the root, all is there": 730,
    "MPI_Scan at rank 0": 740,
    "MPI_Scan at rank 1, all is there": 680,
    "MPI_Exscan at rank 0": 710,
    "MPI_Exscan at rank 1, all is there": 620,
    "MPI_Gatherv, elsewhere": 700,
    "MPI_Gatherv at the root, all is there": 790,
    "MPI_Scatterv at the root": 855,
    "MPI_Scatterv elsewhere, it is there": 560,
    "MPI_Comm_rank": 50,
}
# The instructions that several threads, or the helper thread, may add to each call.
ADDED = {"MPI_THREAD_MULTIPLE": 25, "LANYARD_PROGRESS=helper": 110}
CALLS = {what: 2 if " and MPI_" in what else 1 for what in BOUNDS}  # number of MPI calls in each counted row


@pytest.fixture(scope="module")
def counted():
    cache = BUILD / "CMakeCache.txt"
    settings = cache.read_text() if cache.exists() else ""
    if "CMAKE_BUILD_TYPE:STRING=Release" not in settings or "LANYARD_SANITIZE:STRING=\n" not in settings:
        pytest.skip("only a release build without sanitizers has these counts")
    if reason := instructions.missing(BUILD):
        pytest.skip(reason)
    return {name: instructions.count(BUILD, *variant) for name, variant in instructions.VARIANTS.items()}


@pytest.mark.parametrize("what", BOUNDS)
def test_a_call_keeps_its_bound(counted, what):
    assert 0 < counted[""][what] <= BOUNDS[what]


@pytest.mark.parametrize("variant", ADDED)
@pytest.mark.parametrize("what", BOUNDS)
def test_threads_and_the_helper_add_little(counted, variant, what):
    assert counted[variant][what] - counted[""][what] <= ADDED[variant] * CALLS.get(what, 2)
