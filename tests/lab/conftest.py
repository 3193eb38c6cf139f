"""Provides the fixtures of the lab's own tests.

They are a lab of three hosts and two slow rails, the measuring program (raw.c), and small programs for the
hosts.
"""
import pathlib
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from lab import Lab, check, missing  # noqa: E402

# Tests that run in the background or under nohup ignore SIGINT, and all processes that they start would
# inherit this.
signal.signal(signal.SIGINT, signal.default_int_handler)

RATE_MBIT = 100
# TCP goodput in MB/s at MTU 1500, without the headers of Ethernet, IP and TCP (with time stamps).
LINE_RATE_MB_S = RATE_MBIT / 8 * 1448 / 1514
# Connects to ADDRESS PORT within SECONDS and prints what the other side sends, or the error's name.
CONNECT = """
import errno, socket, sys
try:
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=float(sys.argv[3])) as peer:
        print(peer.recv(100).decode())
except TimeoutError:
    print("timeout")
except OSError as error:
    print(errno.errorcode[error.errno])
"""
# Listens on all addresses and prints its port. Sends every client the name of its host, until it is killed.
GREET = """
import socket
listener = socket.create_server(("", 0))
print(listener.getsockname()[1], flush=True)
while True:
    peer, _ = listener.accept()
    peer.sendall(socket.gethostname().encode())
    peer.close()
"""


@pytest.fixture(scope="session")
def possible():
    """Skips a test if no lab can be made. For root such a skip counts as a failure (tools/junit.py)."""
    if reason := missing():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def raw(tmp_path_factory):
    return check.compiled(tmp_path_factory.mktemp("raw"))


@pytest.fixture(scope="session")
def lab(possible):
    """Makes the lab. Tests that change it restore it. A burst of 5 ms is long enough to reach the rate on a
    machine with other work."""
    with Lab(hosts=3, rails=2, rate=f"{RATE_MBIT}mbit", burst=64_000, queue=128_000) as made:
        yield made


class Greeter:
    """The program GREET in a host."""

    def __init__(self, lab, host):
        self.lab = lab
        self.process = lab.popen(host, [sys.executable, "-S", "-c", GREET], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def greeting(self, source, address, seconds=60, lab=None):
        """What `source` receives from an address at the greeter's port, or "timeout" after `seconds`."""
        return (lab or self.lab).run(
            source, [sys.executable, "-S", "-c", CONNECT, address, self.port, seconds]).stdout.strip()


@pytest.fixture
def greeter(lab):
    with Greeter(lab, "h3") as made:
        yield made


@pytest.fixture
def streams(raw):
    """Returns a function that runs TCP streams at the same time. Its arguments are a lab, (source, target)
    pairs and a rail. It returns the MB/s of each stream."""
    def measure(lab, pairs, rail=1, seconds=0.6):
        servers = [check.server(lab, raw, target, rail) for _, target in pairs]
        ports = [server.__enter__() for server in servers]
        running = [lab.popen(source, [raw, "bulk", lab.address(target, rail), port, seconds],
                             stdout=subprocess.PIPE, text=True)
                   for (source, target), port in zip(pairs, ports)]
        rates = [float(process.communicate(timeout=60)[0]) / 1e6 for process in running]
        for server in servers:
            server.__exit__(None, None, None)
        return rates
    return measure


@pytest.fixture
def make_greeter():
    return Greeter


@pytest.fixture
def line_rate_mb_s():
    return LINE_RATE_MB_S
