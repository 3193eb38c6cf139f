"""What a rank says of its datagrams when MPI is finalised: who asks is told, and everybody where much was lost. And what becomes of datagrams
to a rank that computes, by who drives them there."""
import re

import pytest

PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank;
    char *data = calloc(1, 1 << 18);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 400; ++i)
        MPI_Sendrecv_replace(data, 1 << 18, MPI_CHAR, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture
def exchange(mpirun, built):
    """Runs it on two ranks whose packets are harmed; (output, standard error)."""
    program = built("harmed", PROGRAM, mpirun.build / "bin" / "mpicc")

    def run(harm, log=""):
        settings = {"LANYARD_PATHS": "self,dgram", "LANYARD_DGRAM_HARM": harm, "LANYARD_LOG": log}
        code, out, err = mpirun.run("-n", 2, program, env=settings)
        assert code == 0, err
        return out, err
    return run


def test_little_loss_is_told_to_who_asks(exchange):
    assert exchange("loss=3,double=3") == ("", "")
    out, err = exchange("loss=3,double=3", "info,dgram")
    lines = err.splitlines()
    assert out == "" and len(lines) == 2
    for line in lines:
        assert re.search(r"rank [01] \[dgram\] sent again \d+ of \d+ \(\d+\.\d %\).*; of the packets to this process never came [1-9]\d* of \d+ "
                         r"\(\d\.\d %\); dropped [1-9]\d* copies.*; round trips of \d+ us with 1 peer, the least \d+ us; UDP at .*harmed on purpose",
                         line), line


def test_much_loss_is_told_to_everybody(exchange):
    out, err = exchange("loss=30")
    lines = err.splitlines()
    assert out == "" and len(lines) == 2
    for line in lines:
        share = re.search(r"of the packets to this process (\d+) of (\d+) \((\d+\.\d) %\) never came and were sent again: ", line)
        assert share and 20 < float(share[3]) < 40, line


COMPUTING = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { length = 1 << 18, short_length = 4096, many = 100 };
int main(int argc, char **argv) {
    int rank;
    char *data = calloc(1, length + many * short_length);
    MPI_Request request[1 + many];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv_replace(data, 1, MPI_CHAR, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) {
        MPI_Irecv(data, length, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request[0]);
        MPI_Send(data, 0, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
        usleep(1500000);
        for (int i = 0; i < many; ++i)
            MPI_Irecv(data + length + i * short_length, short_length, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &request[1 + i]);
    } else {
        MPI_Recv(data, 0, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double began = MPI_Wtime();
        MPI_Isend(data, length, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request[0]);
        for (int i = 0; i < many; ++i)
            MPI_Isend(data + length + i * short_length, short_length, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &request[1 + i]);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        printf("%.3f\\n", MPI_Wtime() - began);
        fflush(stdout);
    }
    MPI_Waitall(many + (rank == 1), request + (rank == 0), MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


# Seconds that a long message takes whose receiver computes for 1.5 s.
@pytest.mark.parametrize(("way", "least", "most"), [("engine", 1.4, 10), ("thread", 0, 1), ("hybrid", 0, 0.5)])
def test_rank_that_computes_is_driven_or_waited_for(mpirun, built, way, least, most):
    """Beside that it is sent short messages for which no receive is posted; whoever hears nothing sends little, and takes nobody for lost."""
    program = built("computing", COMPUTING, mpirun.build / "bin" / "mpicc")
    settings = {"LANYARD_PATHS": "self,dgram", "LANYARD_DGRAM_PROGRESS": way, "LANYARD_LOG": "info,dgram", "LANYARD_PEER_TIMEOUT": 1}
    code, out, err = mpirun.run("-n", 2, program, env=settings)
    assert code == 0, err
    assert least <= float(out) <= most
    again = [int(number) for number in re.findall(r"sent again (\d+) of", err)]
    assert len(again) == 2 and sum(again) <= 30, err
