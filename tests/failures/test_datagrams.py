"""Lost datagrams must be sent again; damaged, repeated and foreign ones must be dropped.

At MPI_Finalize a rank reports what happened to its datagrams: always if LANYARD_LOG=info,dgram is set,
otherwise only if many were lost. LANYARD_DGRAM_PROGRESS decides which thread handles the datagrams that
arrive at a rank while the rank computes.
"""
import contextlib
import os
import random
import re
import socket
import time

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
        MPI_Sendrecv_replace(data, 1 << 18, MPI_CHAR, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, \
MPI_STATUS_IGNORE);
    MPI_Finalize();
    free(data);
    return 0;
}
"""


@pytest.fixture
def exchange(mpirun, built):
    """Runs PROGRAM on two ranks with injected packet faults (LANYARD_DGRAM_HARM). Returns (output, standard
    error)."""
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
    assert (out, len(lines)) == ("", 2), err
    for line in lines:
        assert re.search(r"rank [01] \[dgram\] sent again \d+ of \d+ \(\d+\.\d %\).*; of the packets to this "
                         r"process never arrived [1-9]\d* of \d+ \(\d\.\d %\); dropped [1-9]\d* copies.*; "
                         r"round trips of \d+ us with 1 peer, the least \d+ us; UDP at .*harmed on purpose",
                         line), line


def test_much_loss_is_told_to_everybody(exchange):
    out, err = exchange("loss=15")
    lines = err.splitlines()
    assert (out, len(lines)) == ("", 2), err
    for line in lines:
        share = re.search(r"of the packets to this process (\d+) of (\d+) \((\d+\.\d) %\) never arrived and "
                          "were sent again: ", line)
        assert share and 11 < float(share[3]) < 19, line


# Rank 1 posts a receive and then computes. Without an argument, it computes for 1.5 s. The argument is the
# name of a file: rank 1 then computes until this file exists, but no longer than a minute. Rank 0 creates the
# file when its send is complete. Rank 0 prints whether its send was complete while rank 1 computed.
COMPUTING = """
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    enum { length = 1 << 20 };
    int rank, over = 0;
    char *data = calloc(1, length);
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Irecv(data, length, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
        close(creat("computes", 0600));
        for (int i = 0; i < (argc > 1 ? 6000 : 150) && !over; ++i) {
            usleep(10000);
            over = access(argc > 1 ? argv[1] : "over", F_OK) == 0;
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(&over, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    } else {
        while (access("computes", F_OK)) usleep(1000);
        MPI_Send(data, length, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        close(creat(argc > 1 ? argv[1] : "over", 0600));
        MPI_Recv(&over, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        puts(over ? "meanwhile" : "afterwards");
    }
    MPI_Finalize();
    free(data);
    return 0;
}
"""


def compute(mpirun, built, way, words=(), **settings):
    """Runs COMPUTING with LANYARD_DGRAM_PROGRESS=`way`. Returns (output, standard error)."""
    program = built("away", COMPUTING, mpirun.build / "bin" / "mpicc")
    values = {"LANYARD_PATHS": "self,dgram", "LANYARD_DGRAM_PROGRESS": way, "LANYARD_LOG": "info,dgram",
              **settings}
    code, out, err = mpirun.run("-n", 2, program, *words, env=values)
    assert code == 0, err
    return out, err


@pytest.mark.parametrize(("way", "words", "when"), [
    ("engine", [], "afterwards\n"), ("thread", ["told"], "meanwhile\n"), ("hybrid", ["told"], "meanwhile\n"),
])
def test_rank_that_computes_is_driven_or_waited_for(mpirun, built, way, words, when):
    """Rank 1 computes, and does not answer meanwhile. Rank 0 must send little again, and must not declare
    rank 1 failed."""
    out, err = compute(mpirun, built, way, words, LANYARD_PEER_TIMEOUT=1)
    assert out == when, err
    again = [int(number) for number in re.findall(r"sent again (\d+) of", err)]
    assert len(again) == 2 and sum(again) <= 30, err


@pytest.mark.parametrize("seed", range(1, 7))
def test_lost_answer_of_a_rank_that_computes_is_given_again(mpirun, built, seed):
    """The receiver has the whole message, but the acknowledgement may be lost on its way. The receiver must
    then repeat the acknowledgement for the waiting sender."""
    out, err = compute(mpirun, built, "hybrid", ["told"],
                       LANYARD_DGRAM_HARM=f"longest=1472,loss=1,seed={seed}")
    assert out == "meanwhile\n", err


def test_much_loss_is_told_with_what_to_do(mpirun, program):
    settings = {"LANYARD_PATHS": "self,dgram", "LANYARD_DGRAM_HARM": "loss=20,longest=1472,seed=1"}
    code, out, err = mpirun.run("-n", 2, program("exchange"), 4 << 20, env=settings)
    assert (code, out) == (0, "right\n"), err
    assert "never arrived and were sent again" in err and "raise net.core.rmem_max" in err


def test_every_damaged_packet_is_noticed(mpirun, program):
    """One bit is flipped in 3 % of the packets. The program verifies every byte that it receives."""
    settings = {"LANYARD_PATHS": "self,dgram", "LANYARD_DGRAM_HARM": "damage=3,longest=1472",
                "LANYARD_LOG": "info,dgram"}
    code, out, err = mpirun.run("-n", 3, program("exchange"), 1 << 20, env=settings)
    assert (code, out) == (0, "right\n"), err
    done, noticed = (sum(map(int, re.findall(words, err)))
                     for words in (r"reordered, (\d+) damaged", r"dropped [^;]*?, (\d+) damaged"))
    # The numbers may differ a little. Some packets arrive after their receiver has written its report. On a
    # busy machine, other packets may find no room in a socket buffer.
    assert done >= 50 and 0.9 * done - 1 < noticed <= done + 3, err


class Wire:
    """Reads the datagrams that processes of this machine send each other. Only root can do this."""

    def __init__(self, stranger):
        self.stranger = stranger  # the port whose datagrams are ignored
        self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
        self.tap.bind(("lo", 0x0800))
        self.tap.settimeout(20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tap.close()

    def packet(self, ports, introduces=False):
        """Returns (port, bytes) of the next packet with a sequence number to one of these ports.

        `introduces` selects packets in the introducing form, otherwise in the usual one
        (docs/internals/protocol-datagrams.md).
        """
        while True:
            frame = self.tap.recv(65536)
            udp = frame[(frame[0] & 15) * 4:]
            origin, port, packet = int.from_bytes(udp[:2], "big"), int.from_bytes(udp[2:4], "big"), udp[8:]
            if (frame[9] != socket.IPPROTO_UDP or port not in ports or origin == self.stranger
                    or packet[12:16] == bytes(4)):
                continue
            if bool(packet[6] & 0x80) == introduces:
                return port, packet


def sealed(packet):
    """Returns the packet with a correct checksum. Its first four bytes are the CRC32C of all following
    bytes."""
    crc = 0xffffffff
    for byte in packet[4:]:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return (crc ^ 0xffffffff).to_bytes(4, "little") + packet[4:]


# Each kind makes a packet from a packet of this job (`own`) and a packet of the other job (`other`). Packets
# of an earlier process, which had another epoch, are made from an introducing packet (below), because only an
# introducing packet contains the epochs. A packet in the usual form contains only a proof that covers them.
KINDS = {
    "said before": lambda own, other, chance: own,
    "of another job": lambda own, other, chance: other,
    "of another epoch": lambda own, other, chance: sealed(own[:7] + chance.randbytes(5) + own[12:]),
    "senseless": lambda own, other, chance: sealed(own[:16] + b"\x4d"),
    "short": lambda own, other, chance: chance.randbytes(chance.randrange(1, 16)),
    "noise": lambda own, other, chance: own[:7] + chance.randbytes(chance.randrange(9, 1400)),
}


def of_an_earlier_process(introducing, chance):
    return sealed(introducing[:16] + chance.randbytes(4) + introducing[20:])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root sees what others send")
@pytest.mark.one_host("it listens to the loopback interface")
def test_packets_of_others_are_dropped_and_counted(mpirun, program):
    """Two jobs run at the same time. The first job also gets packets of the other job, copies of its own
    packets, and altered packets.

    The first job must continue undisturbed and report how many packets of each kind it dropped.
    """
    chance = random.Random(int(os.environ.get("LANYARD_TEST_SEED", 1)))
    # No port that the system gives to other jobs, whose packets would be taken for those of the first job.
    ports = {"22210-22219": range(22210, 22220), "22220-22229": range(22220, 22230)}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger, contextlib.ExitStack() as stack:
        stranger.bind(("127.0.0.1", 0))
        wire = stack.enter_context(Wire(stranger.getsockname()[1]))
        jobs = [mpirun.start("-n", 2, program("silent"), "going-on", 3, text=True,
                             env={"LANYARD_PATHS": "self,dgram", "LANYARD_DGRAM_HARM": "",
                                  "LANYARD_PORT_RANGE": name, "LANYARD_LOG": "info,dgram"})
                for name in ports]
        introduced, introducing = wire.packet(ports["22210-22219"], introduces=True)
        assert [job.stdout.readline() for job in jobs] == ["cut\n"] * 2
        sent, end = 0, time.monotonic() + 1.5
        while time.monotonic() < end:
            port, own = wire.packet(ports["22210-22219"])
            _, other = wire.packet(ports["22220-22229"])
            for made in KINDS.values():
                stranger.sendto(made(own, other, chance), ("127.0.0.1", port))
            stranger.sendto(of_an_earlier_process(introducing, chance), ("127.0.0.1", introduced))
            sent += 1
            time.sleep(0.002)
        told = [job.communicate(timeout=60) for job in jobs]
    assert [(job.returncode, out) for job, (out, _) in zip(jobs, told)] == [(0, "right\n")] * 2, told
    patterns = (r"(\d+) copies", r"(\d+) of strangers", r"(\d+) of earlier processes", r"(\d+) without sense",
                r"(\d+) damaged")
    copies, strangers, earlier, senseless, noise = (
        sum(map(int, re.findall(rf"dropped [^;]*?\b{words}", told[0][1]))) for words in patterns)
    assert sent >= 3 and copies >= sent, told[0][1]
    assert (strangers, earlier, senseless, noise) == (2 * sent, sent, 2 * sent, sent), (sent, told[0][1])
    assert not re.search("strangers|earlier|sense", told[1][1]), told[1][1]
