"""Tests that the relay causes each of its troubles, exactly to the byte, and no other troubles."""
import socket
import struct
import sys
import threading
import time

import pytest
from lab import Relay, RelayProcess

ECHO = """
import socket
listener = socket.create_server(("", 5000))
print("ready", flush=True)
while True:
    peer, _ = listener.accept()
    while data := peer.recv(65536):
        peer.sendall(data)
    peer.close()
"""
PATTERN = bytes(range(256)) * 4096  # 1 MiB


@pytest.fixture(scope="module")
def echo():
    """The address of a server that sends back what it receives."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(peer):
        with peer:
            try:
                while data := peer.recv(65536):
                    peer.sendall(data)
            except OSError:
                pass

    def accept():
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(peer,), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    yield listener.getsockname()
    listener.close()


@pytest.fixture
def relay(echo):
    with Relay(echo) as made:
        yield made


class Client:
    """A connection through the relay, with time limits."""

    def __init__(self, address):
        self.socket = socket.create_connection(address)
        self.socket.settimeout(60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def receive(self, size):
        """Receives `size` bytes, or fewer if the stream ends or is reset."""
        got = bytearray()
        try:
            while len(got) < size and (data := self.socket.recv(size - len(got))):
                got += data
        except ConnectionResetError:
            pass
        return bytes(got)

    def exchange(self, data):
        """Sends data to the echo server. Returns (the bytes that return, seconds)."""
        start = time.monotonic()
        sender = threading.Thread(target=self.send, args=(data,))
        sender.start()
        got = self.receive(len(data))
        sender.join()
        return got, time.monotonic() - start

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass


def test_without_trouble_all_passes_and_is_counted(relay):
    with Client(relay.address) as client, Client(relay.address) as other:
        assert client.exchange(PATTERN)[0] == PATTERN and other.exchange(b"small")[0] == b"small"
        assert relay.counts() == {"connections": 2, "open": 2, "refused": 0, "resets": 0, "flips": 0,
                                  "forward_bytes": len(PATTERN) + 5, "backward_bytes": len(PATTERN) + 5}
        client.socket.shutdown(socket.SHUT_WR)
        # The relay passes the end of one direction on, and the server then ends the other direction.
        assert client.receive(1) == b""


@pytest.mark.parametrize(("direction", "least_s"), [("forward", 0.2), ("backward", 0.2), ("both", 0.4)])
def test_delay(relay, direction, least_s):
    relay.delay(direction, 200)
    with Client(relay.address) as client:
        assert least_s <= client.exchange(b"x")[1]
        got, seconds = client.exchange(PATTERN * 32)
        # A delay must not limit the rate. If only 64 KiB passed in each delay, the exchange would take 100 s.
        assert got == PATTERN * 32 and seconds < 50
        relay.delay("both", 0)
        assert min(client.exchange(b"x")[1] for _ in range(20)) < 0.2


def test_stall(relay):
    with Client(relay.address) as client:
        relay.stall("backward", 0.3)
        got, seconds = client.exchange(PATTERN)
        assert got == PATTERN and 0.25 < seconds


def test_bytewise(relay):
    relay.bytewise("backward")
    with Client(relay.address) as client:
        client.send(b"0123456789" * 30)
        assert client.receive(300) == b"0123456789" * 30
        assert data_segments(client.socket) == 300


def data_segments(end):
    """tcpi_data_segs_in: the segments with data that a connection has received."""
    return struct.unpack_from("I", end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 200), 152)[0]


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_one_flipped_bit(relay, direction):
    relay.flip(direction, 777_777, bit=5)
    with Client(relay.address) as client:
        got, _ = client.exchange(PATTERN)
        assert ([(at, one ^ two) for at, (one, two) in enumerate(zip(got, PATTERN)) if one != two]
                == [(777_777, 1 << 5)])
        assert client.exchange(PATTERN)[0] == PATTERN
    assert relay.counts()["flips"] == 1


@pytest.mark.parametrize("offset", [1, 4096, 100_001])
def test_reset_at_a_byte(relay, offset):
    relay.reset_at("backward", offset)
    with Client(relay.address) as client:
        assert client.exchange(PATTERN)[0] == PATTERN[:offset]
    with Client(relay.address) as client:  # only the first connection that reaches the offset is reset
        assert client.exchange(PATTERN)[0] == PATTERN
    assert relay.counts()["resets"] == 1


def test_reset_on_demand(relay):
    with Client(relay.address) as client, Client(relay.address) as other:
        client.exchange(b"x")
        other.exchange(b"x")
        assert relay.reset() == 2
        for end in (client, other):
            with pytest.raises(ConnectionResetError):
                end.socket.recv(1)
    assert (relay.counts()["open"], relay.counts()["resets"], relay.reset()) == (0, 2, 0)


def test_a_target_that_is_not_there_resets_the_client():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        nobody = listener.getsockname()
    with Relay(nobody) as relay, Client(relay.address) as client:
        assert client.receive(1) == b""
        assert relay.counts()["refused"] == 1


def test_random_troubles_come_from_a_seed_and_spare_the_data(echo, capsys):
    with (Relay(echo, seed=0, troubles={"split": 0.5, "bytewise": 0.1, "delay": 0.1}) as relay,
          Client(relay.address) as client):
        assert capsys.readouterr().out == f"relay: seed {relay.seed}\n"
        assert client.exchange(PATTERN)[0] == PATTERN
    with Relay(echo, seed=7, troubles={"reset": 1.0}) as relay, Client(relay.address) as client:
        assert client.exchange(PATTERN)[0] != PATTERN
        assert relay.counts()["resets"] == 1


def test_in_a_host_of_the_lab(lab):
    server = lab.popen("h2", [sys.executable, "-S", "-c", ECHO], stdout=-1, text=True)
    try:
        server.stdout.readline()
        with RelayProcess(lab, "h3", (lab.address("h2"), 5000)) as relay:
            assert relay.address[0] == lab.address("h3")
            relay.delay("forward", 20)
            relay.bytewise("backward", True)
            script = ("import socket, sys; c = socket.create_connection(sys.argv[1:]); c.sendall(b'hello'); "
                      "print(c.recv(5, socket.MSG_WAITALL))")
            done = lab.run("h1", [sys.executable, "-S", "-c", script, *relay.address])
            assert done.stdout == "b'hello'\n", done.stderr
            assert relay.counts()["backward_bytes"] == 5
    finally:
        server.kill()
        server.communicate()
