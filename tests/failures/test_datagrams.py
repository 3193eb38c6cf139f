"""What a rank says of its datagrams when MPI is finalised: who asks is told, and everybody where much was lost."""
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
