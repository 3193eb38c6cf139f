"""Mismatched collectives and datatypes must be reported, and must not cause a hang or wrong data.

In these programs, ranks do not call the same collectives, or the sender and the receiver of a message use
different datatypes.
"""
import os
import re

import pytest

LONG = "LANYARD_TEST_ALL" in os.environ
PATHS = ["self,shm,tcp", "self,tcp", *(["self,dgram"] if LONG else [])]
# What the error message must contain, for each scenario of programs/mismatch.c.
WORDS = {
    "operation": r"rank \d calls MPI_(Allreduce|Bcast) where this rank calls MPI_(Bcast|Allreduce); all "
                 r"ranks must call the same|calls MPI_\w+ as collective operation \d of this communicator, "
                 r"this rank MPI_\w+ as operation \d",
    "barrier": r"rank \d calls MPI_(Barrier|Allgather) where this rank calls MPI_(Allgather|Barrier)",
    "root": r"rank \d calls MPI_Bcast with root \d, this rank with root \d; all ranks must name the same "
            "root",
    "reduce-root": r"rank \d calls MPI_Reduce with root \d, this rank with root \d",
    "reduction": r"rank \d calls MPI_Allreduce with (MPI_MAX|an operation of the program), this rank with "
                 "(an operation of the program|MPI_MAX)",
    "more": r"bytes",
    "fewer": r"bytes",
    "gather": r"bytes",
    "gatherv": r"rank \d (sent \d+ bytes where this rank|takes part with \d+ bytes, this rank) expects \d+",
    "scatter": r"bytes",
    "scatter-root": r"rank \d calls MPI_Scatter with root \d, this rank with root \d; all ranks must name "
                    "the same root",
    "uneven": r"rank \d calls MPI_(Allgatherv|Alltoallv) where this rank calls MPI_(Alltoallv|Allgatherv)",
    "scan": r"rank \d calls MPI_(Scan|Exscan) where this rank calls MPI_(Exscan|Scan)",
    "reduce-scatter": r"rank \d calls MPI_Reduce_scatter_block with MPI_(MAX|SUM), this rank with "
                      "MPI_(SUM|MAX)",
    "alone": r"rank \d calls MPI_(Bcast|Gather) where this rank calls MPI_(Gather|Bcast)",
    "neighbors": r"rank \d calls MPI_Neighbor_(allgather|alltoall) where this rank calls "
                 "MPI_Neighbor_(alltoall|allgather)",
    "sequence": r"rank \d calls MPI_(Allreduce|Alltoall) where this rank calls MPI_(Alltoall|Allreduce); .* "
                "in the same order",
    "finalize": r"rank \d calls MPI_(Barrier|Finalize) where this rank calls MPI_(Finalize|Barrier); all "
                "ranks must call the same",
    "finalize-sum": r"rank \d calls MPI_(Allreduce|Finalize) where this rank calls MPI_(Finalize|Allreduce)",
    "nonblocking": r"rank \d calls MPI_(Allgather|Allreduce) where this rank calls MPI_(Allreduce|Allgather)",
}


@pytest.mark.parametrize("paths", PATHS)
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("count", [8, 3000, 20000])
@pytest.mark.parametrize("scenario", WORDS)
def test_mismatched_collectives_are_told(mpirun, program, scenario, count, ranks, paths):
    code, out, err = mpirun.run("-n", ranks, "--timeout", 20, program("mismatch"), scenario, count,
                                env={"LANYARD_PATHS": paths})
    assert code not in (0, 124) and out == "", err
    assert re.search(r"Lanyard: MPI_\w+\(.*: .*" + WORDS[scenario], err, re.DOTALL), err


@pytest.mark.parametrize("paths", PATHS)
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("count", [8, 3000, 200000])
@pytest.mark.parametrize("call", ["bcast", "scatter", "reduce"])
def test_what_a_later_call_finds_out_is_told_of_the_call_it_was_in(
        mpirun, program, call, count, ranks, paths):
    code, out, err = mpirun.run("-n", ranks, "--timeout", 20, program("mismatch_noticed_later"), call, count,
                                env={"LANYARD_PATHS": paths})
    assert (code, err) == (0, ""), "a rank waits for ever"
    told = (rf"rank \d calls MPI_{call.capitalize()} with root \d, this rank with root \d; all ranks must "
            "name the same root")
    assert out and all(re.search(told, line) for line in out.splitlines()), out


# For each scenario of programs/mismatch_making.c: the two calls, in either order, or a pattern.
MAKING = {
    "dup-barrier": ("Comm_dup", "Barrier"),
    "idup-sum": ("Comm_dup", "Allreduce"),
    "split-bcast": ("Comm_split", "Bcast"),
    "split-type": ("Comm_split", "Comm_split_type"),
    "split-dup": ("Comm_split", "Comm_dup"),
    "create-gather": ("Comm_create", "Gather"),
    "cart-dup": ("Cart_create", "Comm_dup"),
    "cart-graph": ("Cart_create", "Graph_create"),
    "graphs": ("Dist_graph_create", "Dist_graph_create_adjacent"),
    "adjacent-split": ("Comm_split", "Dist_graph_create_adjacent"),
    "init-call": ("Reduce_init", "Gather"),
    "init-kind": ("Reduce_init", "Gather_init"),
    "init-root": r"rank \d calls MPI_Reduce_init with root \d, this rank with root \d; all ranks must name "
                 "the same root",
    "inter-call": ("Allreduce", "Barrier"),
    "inter-merge": ("Intercomm_merge", "Comm_dup"),
    "inter-reduction": r"rank \d calls MPI_Allreduce with MPI_(SUM|MAX), this rank with MPI_(MAX|SUM); all "
                       "ranks must give the same operation",
    "inter-count": r"rank \d calls MPI_Bcast with another number of bytes than this rank; count and datatype "
                   "must agree on all ranks",
    "inter-root": r"rank \d calls MPI_Reduce with another root than this rank; all ranks must name the same "
                  "root",
}


def told(scenario):
    words = MAKING[scenario]
    if isinstance(words, str):
        return words
    one, other = words
    return (f"rank \\d calls MPI_({one} where this rank calls MPI_{other}|{other} where this rank calls "
            f"MPI_{one}); all ranks must call the same")


@pytest.mark.parametrize("paths", PATHS if LONG else PATHS[:1])
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("scenario", MAKING)
def test_mismatches_in_making_things_and_between_groups_are_told(mpirun, program, scenario, ranks, paths):
    if scenario == "inter-root" and ranks == 2:
        pytest.skip("needs two ranks in one of the groups")
    code, out, err = mpirun.run("-n", ranks, "--timeout", 20, program("mismatch_making"), scenario,
                                env={"LANYARD_PATHS": paths})
    assert code not in (0, 124), err
    assert re.search(r"Lanyard: MPI_\w+\(.*: .*" + told(scenario), err), err
    code, out, err = mpirun.run("-n", ranks, "--timeout", 20, program("mismatch_making"), scenario, "return",
                                env={"LANYARD_PATHS": paths})
    assert (code, err) == (0, ""), "a rank waits for ever"
    assert out.count(" of class ") == ranks and re.search(told(scenario), out), out


TYPE = 3
SENTENCES = {
    ("int", "float"): "the sender's elements are int32, the receiver's float32",
    ("double", "ints"): "the sender's elements are float64, the receiver's int32",
    ("mixed", "turned"): "both are mixtures of elements, in another order or of other kinds",
    ("int", "mixed"): "the sender's elements are int32, the receiver's a mixture",
}


@pytest.mark.parametrize("paths", PATHS)
@pytest.mark.parametrize("size", [24, 4800, 480000])
@pytest.mark.parametrize(("sent", "received"), SENTENCES)
def test_different_datatypes_are_told_in_debug_mode(mpirun, program, sent, received, size, paths):
    code, out, err = mpirun.run("-n", 2, program("types"), sent, received, size,
                                env={"LANYARD_CHECK": "on", "LANYARD_PATHS": paths})
    assert (code, err) == (0, "")
    assert re.match(rf"{TYPE} MPI_Recv\(.*\) on rank 1 .*: the message from rank 0 with tag 7 and this "
                    "receive have different datatypes: "
                    + SENTENCES[sent, received], out), out


# For each way to receive: the call that the error names. The value None means that the error is in a status
# and names no call.
WAYS = {"irecv": "MPI_Wait", "waitall": None, "mrecv": "MPI_Mrecv", "imrecv": "MPI_Wait",
        "persistent": "MPI_Wait", "sendrecv": "MPI_Sendrecv"}


@pytest.mark.parametrize("size", [24, 480000])
@pytest.mark.parametrize("way", WAYS)
def test_different_datatypes_are_told_by_all_ways_to_receive(mpirun, program, way, size):
    code, out, err = mpirun.run("-n", 2, program("types"), "int", "float", size, way,
                                env={"LANYARD_CHECK": "on"})
    assert (code, err) == (0, "")
    call = rf"{WAYS[way]}\(.*\) on rank 1 .*: " if WAYS[way] else ""
    assert re.match(f"{TYPE} {call}the message from rank 0 with tag 7 and this receive have different "
                    "datatypes: "
                    + SENTENCES["int", "float"], out), out
    assert mpirun.run("-n", 2, program("types"), "int", "int32", size, way,
                      env={"LANYARD_CHECK": "on"}) == (0, "", "")


@pytest.mark.parametrize(("sent", "received"), [
    ("int", "int32"), ("int", "ints"), ("mixed", "mixed"), ("byte", "double"), ("mixed", "packed"),
])
def test_datatypes_that_fit_are_not_complained_of(mpirun, program, sent, received):
    for size in (48, 480000):
        assert mpirun.run("-n", 2, program("types"), sent, received, size,
                          env={"LANYARD_CHECK": "on"}) == (0, "", "")


def test_datatypes_are_not_compared_without_debug_mode(mpirun, program):
    assert mpirun.run("-n", 2, program("types"), "int", "float", 48) == (0, "", "")
