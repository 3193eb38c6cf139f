"""Tests the table and the file of mpirun --profile, for a program whose calls and messages are known."""
import json
import pathlib
import re

import pytest

PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    int size;
    MPI_Type_size(*type, &size);  /* part of the call that is timed: not counted */
    for (int i = 0; i < *count; ++i) ((int *)inout)[i] += ((int *)in)[i];
}
int main(int argc, char **argv) {
    int rank, size, one = 1, sum = 0;
    char *data = calloc(1, 1 << 20), small[100] = "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < 10; ++i) {
        MPI_Request requests[2];
        MPI_Irecv(data, 1 << 19, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(data + (1 << 19), 1 << 19, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (rank == 0) MPI_Send(small, 100, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(small, 100, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        double until = MPI_Wtime() + 0.3;
        while (MPI_Wtime() < until) {
        }
        MPI_Send(small, 0, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    }
    if (rank == 1) MPI_Recv(small, 0, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture
def program(mpirun, built):
    return built("profiled", PROGRAM, mpirun.build / "bin" / "mpicc")


def run(mpirun, folder, *words, **options):
    """(standard error, the file's content) of a job with a profile."""
    code, out, err = mpirun.run(*words, cwd=folder, **options)
    assert (code, out) == (0, ""), err
    (file,) = folder.glob("lanyard-profile-*.json")
    assert f"The numbers of every rank are in {file.name}.\n" in err
    return err, json.loads(file.read_text())


@pytest.mark.parametrize("paths", ["self,shm", "self,tcp"])
def test_what_is_counted(mpirun, program, tmp_path, paths):
    err, numbers = run(mpirun, tmp_path, "--profile", "-n", 2, program, env={"LANYARD_PATHS": paths})
    first, second = numbers["ranks"]
    assert [rank["rank"] for rank in numbers["ranks"]] == [0, 1]
    calls = {name: call["calls"] for name, call in first["calls"].items()}
    assert calls == {"MPI_Comm_rank": 1, "MPI_Comm_size": 1, "MPI_Op_create": 1, "MPI_Irecv": 10,
                     "MPI_Isend": 10, "MPI_Waitall": 10, "MPI_Send": 11, "MPI_Allreduce": 10,
                     "MPI_Op_free": 1}
    assert second["calls"]["MPI_Recv"]["calls"] == 11
    assert all(0 <= call["waiting"] <= call["seconds"] <= rank["seconds"] for rank in numbers["ranks"]
               for call in rank["calls"].values())
    # Rank 1 waits for the last message, which rank 0 sends late.
    assert 0.2 < second["waits"]["late senders"]["seconds"] - second["waits"]["late senders"]["moving"] < 60
    assert second["calls"]["MPI_Recv"]["waiting"] > 0.2
    sent = first["sent"]
    # Over TCP, some of the receives were announced early enough for the write protocol.
    long_ones = [sent["by protocol"][name] for name in ("rendezvous", "write")]
    assert [sum(one[what] for one in long_ones) for what in ("messages", "bytes")] == [10, 10 << 19]
    assert sent["by size class"][20] == {"messages": 10, "bytes": 10 << 19}
    assert sent["by size class"][7] == {"messages": 10, "bytes": 1000}
    assert sent["largest"] == 1 << 19
    assert sent["peers"] == 1
    assert set(sent["by path"]) == {"shm" if "shm" in paths else "tcp"}
    assert "Profile of 2 ranks: " in err
    assert "MPI_Waitall                            20 " in err
    # A copy method may have moved a single message, which the table calls "message".
    by_way = re.findall(r"^ *(?:rendezvous|write) .*?(\d+) messages? ", err, re.MULTILINE)
    assert sum(int(messages) for messages in by_way) == 20, err


def test_four_ranks(mpirun, program, tmp_path):
    err, numbers = run(mpirun, tmp_path, "-n", 4, "--profile", program)
    assert len(numbers["ranks"]) == 4
    assert "MPI_Allreduce                          40 " in err


def test_datagrams_that_were_lost(mpirun, program, tmp_path):
    """Some packets are lost, duplicated and damaged. Sender and receiver must count what happened to them."""
    harm = "loss=4,double=4,damage=1"
    err, numbers = run(mpirun, tmp_path, "--profile", "-n", 3, program,
                       env={"LANYARD_PATHS": "self,dgram", "LANYARD_DGRAM_HARM": harm})
    ranks = [rank["datagrams"] for rank in numbers["ranks"]]
    total = {name: sum(rank[name] for rank in ranks) for name in ranks[0] if name != "peers"}
    again = sum(total[f"given up by {why}"] for why in ("order", "time", "probe"))
    assert 0 < total["missing"] < total["received"]
    assert total["missing"] - 3 <= again, (
        "what never arrived went again; the last packets may not have been missed by anybody")
    assert 0 < total["doubled"] < total["packets"] and 0 < total["damaged"] < total["packets"]
    assert total["strangers"] == total["stale"] == total["garbage"] == 0
    assert total["acknowledgements alone"] > 0 and total["acknowledgements carried"] > 0
    assert total["bytes"] > 3 * 10 << 19
    for own, rank in enumerate(ranks):
        peers = {peer["rank"]: peer for peer in rank["peers"]}
        assert peers.keys() == {0, 1, 2} - {own}
        assert sum(peer["sent again"] for peer in peers.values()) == sum(
            rank[f"given up by {why}"] for why in ("order", "time", "probe"))
        assert sum(peer["missing"] for peer in peers.values()) == rank["missing"]
        assert sum(peer["received"] for peer in peers.values()) == rank["received"]
        assert all(0 < peer["least round trip"] <= peer["round trip"] < 60 for peer in peers.values())
        for other, peer in peers.items():
            (back,) = (each for each in ranks[other]["peers"] if each["rank"] == own)
            assert abs(back["received"] + back["missing"] - peer["sent"]) < 50, (
                "but for what comes and goes while they are counted")
    row = re.search(r"^ +declared lost, sent again +([\d,]+) packets? +[\d.]+ %$", err, re.M)
    assert int(row[1].replace(",", "")) == again
    assert re.search(r"^ +never received +" + f"{total['missing']:,} packets?", err, re.M)
    assert f"Dropped: {total['damaged']:,} damaged, 0 from strangers, " in err
    pairs = re.findall(r"^(\d to \d) +[\d,]+ +([\d,]+) +[\d,]+ +\S+ [mu]?s +\S+ [mu]?s$", err, re.M)
    assert len(pairs) == 6 and sum(int(number.replace(",", "")) for _, number in pairs) == again


@pytest.mark.parametrize("paths", ["self,shm", "self,tcp"])
def test_nothing_of_datagrams_without_them(mpirun, program, tmp_path, paths):
    err, numbers = run(mpirun, tmp_path, "--profile", "-n", 2, program, env={"LANYARD_PATHS": paths})
    assert "datagrams" not in err and all("datagrams" not in rank for rank in numbers["ranks"])


def test_by_setting(mpirun, program, tmp_path):
    err, _ = run(mpirun, tmp_path, "-n", 2, program, env={"LANYARD_PROFILE": "on"})
    assert "Profile of 2 ranks: " in err


def test_other_door(mpirun, tmp_path):
    """A program that uses the MPICH ABI must have a profile too, because all front ends count in one
    place."""
    err, numbers = run(mpirun, tmp_path, "--profile", "-n", 2, mpirun.build / "tests" / "mpich-coll-moves")
    assert numbers["ranks"][1]["calls"]["MPI_Bcast"]["calls"] > 0
    assert "MPI_Bcast" in err


def test_nothing_without(mpirun, program, tmp_path):
    assert mpirun.run("-n", 2, program, cwd=tmp_path) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("words", "why"), [
    (["true"], "rank 0 has not used MPI; the profile is made in MPI_Finalize"),
    (["sh", "-c", "kill -9 $$"], "rank 0 has not used MPI; the profile is made in MPI_Finalize"),
    (["abort"], "rank 0 ended before MPI_Finalize, which makes it"),
])
def test_no_profile_is_said_once(mpirun, built, tmp_path, words, why):
    times = 1
    if words == ["abort"]:
        times = 20  # whether mpirun's order to end arrives before or after the end of the ranks
        source = "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Abort(MPI_COMM_WORLD, 3); }\n"
        words = [built("aborted", source, mpirun.build / "bin" / "mpicc")]
    for _ in range(times):
        _, _, err = mpirun.run("--profile", "-n", 2, *words, cwd=tmp_path)
        assert err.count("no profile") == 1 and f"mpirun: no profile: {why}\n" in err, err
    assert list(tmp_path.iterdir()) == []


NOT_WRITTEN = r"the file lanyard-profile-\S+\.json with the profile's numbers could not be written in " \
              r"{folder}: {why}; " \
              r"start the program in another folder \(mpirun -wdir DIR\)\n"


def test_folder_in_which_nothing_can_be_written(mpirun, program):
    code, out, err = mpirun.run("--profile", "-n", 2, program, cwd=pathlib.Path("/proc/self"))
    assert (code, out) == (0, ""), err
    assert "Profile of 2 ranks: " in err
    assert re.search(NOT_WRITTEN.format(folder=r"/proc/\d+", why="No such file or directory"), err), err


FULL = """
#include <mpi.h>
#include <signal.h>
#include <sys/resource.h>
int main(int argc, char **argv) {
    struct rlimit limit = {64, 64};
    MPI_Init(&argc, &argv);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    MPI_Finalize();
    return 0;
}
"""


def test_no_part_of_a_file_is_left(mpirun, built, tmp_path):
    """Only 64 bytes of the file can be written, as on a full file system. The part must be removed."""
    code, out, err = mpirun.run("--profile", "-n", 1, built("full", FULL, mpirun.build / "bin" / "mpicc"),
                                cwd=tmp_path)
    assert (code, out) == (0, ""), err
    assert re.search(NOT_WRITTEN.format(folder=re.escape(str(tmp_path)), why="File too large"), err), err
    assert list(tmp_path.iterdir()) == []
