"""Tests how a job uses the network of one machine: which ports it opens on which addresses, and which error
is reported if it can open no port."""
import ctypes
import os
import pathlib
import random
import re
import socket
import struct
import time

import pytest

TCP = {"LANYARD_PATHS": "self,tcp"}


def listening(pids):
    """Reads from /proc the (address, port) of all listening TCP sockets of these processes."""
    inodes = set()
    for pid in pids:
        inodes.update(file[len("socket:["):-1] for file in open_files(pid) if file.startswith("socket:["))
    places = []
    for family in ("tcp", "tcp6"):
        with open(f"/proc/net/{family}", encoding="ascii") as table:
            for line in list(table)[1:]:
                words = line.split()
                if words[3] == "0A" and words[9] in inodes:
                    address, port = words[1].split(":")
                    places.append((address, int(port, 16)))
    return places


def open_files(pid):
    """The files and sockets to which the descriptors of a process refer; an empty list if the process has
    ended."""
    folder = f"/proc/{pid}/fd"
    try:
        return [os.readlink(f"{folder}/{name}") for name in os.listdir(folder)]
    except OSError:
        return []


@pytest.fixture
def ports_of(mpirun, program):
    """Returns a function that runs a job of three ranks with the given settings and returns the addresses and
    ports on which they listen."""
    def look(environment):
        process = mpirun.start("-n", 3, program("life"), "stay", env=environment)
        mpirun.read_until(process.stdout, lambda text: text.count(b"\n") == 3)
        found = listening(mpirun.alive())
        process.terminate()
        process.communicate(timeout=60)
        return found
    return look


@pytest.mark.own_paths("other paths open ports")
@pytest.mark.one_host("it looks at the sockets of this host")
def test_job_of_one_host_opens_no_port(ports_of):
    assert ports_of({}) == []


@pytest.mark.one_host("there are other interfaces to listen at")
def test_ranks_without_shared_memory_listen_on_loopback_only(ports_of):
    found = ports_of(TCP)
    assert [address for address, _ in found] == ["0100007F"] * 3
    assert len({port for _, port in found}) == 3


@pytest.mark.one_host("it looks at the sockets of this host")
def test_ports_are_those_asked_for(ports_of):
    found = ports_of({**TCP, "LANYARD_PORT_RANGE": "22000-22007"})
    assert len(found) == 3 and all(22000 <= port <= 22007 for _, port in found)


@pytest.mark.one_host("each host has ports of its own")
def test_too_few_ports(mpirun, program):
    code, _, err = mpirun.run("-n", 3, program("life"), "end",
                              env={**TCP, "LANYARD_PORT_RANGE": "22010-22011"})
    assert code not in (0, 134, 139)
    assert ("cannot listen at 127.0.0.1 with a port of LANYARD_PORT_RANGE=22010-22011: Address already in "
            "use; each process of a host needs a port of its own: name more of them") in err


@pytest.mark.one_host("each host has ports of its own")
def test_one_job_after_another_on_the_same_ports(mpirun, program):
    """Connections of an earlier job that are in the state TIME-WAIT must not block the ports for the next
    job."""
    for _ in range(4):
        assert mpirun.run("-n", 2, program("exchange"), 1000,
                          env={**TCP, "LANYARD_PORT_RANGE": "22020-22021"}) == (0, "right\n", "")


def test_interface_that_is_not_there(mpirun, program):
    code, _, err = mpirun.run("-n", 2, program("life"), "end", env={**TCP, "LANYARD_INTERFACES": "eth77"})
    assert code not in (0, 134, 139)
    words = ("LANYARD_INTERFACES names 'eth77', which is no interface, address or network of this machine; "
             "there are lo (127.0.0.1)")
    assert words in err and "not needed" not in err, err


@pytest.mark.one_host("it chooses loopback")
def test_interface_that_is_chosen(mpirun, program):
    assert mpirun.run("-n", 2, program("exchange"), 100000,
                      env={**TCP, "LANYARD_INTERFACES": "127.0.0.0/8"}) == (0, "right\n", "")


MAGIC, VERSION, HELLO, BEHIND = 0x4c4e5944, 3, 1, 4  # docs/internals/protocol-tcp.md


def greeting(chance, version=VERSION):
    """A hello of rank 1 to rank 0 with a wrong proof and a much higher epoch, as from an earlier job."""
    return struct.pack("=IHH16sIIIIQQII16s", MAGIC, version, HELLO, chance.randbytes(16), 1, 0, 0, 1000, 0, 7,
                       0, 0, chance.randbytes(16))


def say_as_stranger(chance, port, kind):
    """Connects to the port, sends data of this kind and returns what arrived before the other side closed the
    connection. Returns nothing if this function closes the connection first."""
    with socket.create_connection(("127.0.0.1", port), timeout=15) as stranger:
        said = {"garbage": chance.randbytes(chance.randrange(80, 5000)),
                "half a greeting": greeting(chance)[:chance.randrange(80)],
                "nothing": b"", "an earlier job": greeting(chance),
                "an earlier version": greeting(chance, VERSION - 1)}[kind]
        try:
            stranger.sendall(said)
            return stranger.recv(100) if kind in ("garbage", "an earlier job", "an earlier version") else b""
        except ConnectionError:
            return b""


@pytest.mark.one_host("it looks at the sockets of this host")
def test_strangers_do_not_disturb(mpirun, program):
    """A job must continue while strangers connect to its ports and send data. The job must count and drop the
    connections of the strangers."""
    assert len(greeting(random.Random(1))) == 80
    chance = random.Random(int(os.environ.get("LANYARD_TEST_SEED", 1)))
    process = mpirun.start("-n", 2, program("silent"), "going-on", 2, env={**TCP, "LANYARD_LOG": "info,tcp"},
                           text=True)
    assert process.stdout.readline() == "cut\n"
    ports = [port for _, port in listening(mpirun.alive())]
    assert len(ports) == 2
    end, dropped = time.monotonic() + 1.5, 0
    while time.monotonic() < end:
        for kind in ("garbage", "half a greeting", "nothing", "an earlier job"):
            assert say_as_stranger(chance, chance.choice(ports), kind) == b""
            dropped += kind in ("garbage", "an earlier job")
    for port in ports:
        assert (say_as_stranger(chance, port, "an earlier version")[:8]
                == struct.pack("=IHH", MAGIC, VERSION, BEHIND))
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "right\n"), err
    refused = err.count("a connection from elsewhere is refused: ")
    assert dropped >= 2 and refused >= dropped, (dropped, refused)
    assert err.count("a connection is refused: it speaks version 2 of what Lanyard says on connections, and "
                     "this process version 3") == 2, err


DGRAM = {"LANYARD_PATHS": "self,dgram"}


@pytest.mark.one_host("each host has ports of its own")
def test_too_few_ports_for_datagrams(mpirun, program):
    code, _, err = mpirun.run("-n", 3, program("life"), "end",
                              env={**DGRAM, "LANYARD_PORT_RANGE": "22110-22111"})
    assert code not in (0, 134, 139)
    assert ("cannot receive datagrams at 127.0.0.1 with a port of LANYARD_PORT_RANGE=22110-22111: Address "
            "already in use; each process of a host needs a port of its own: name more of them") in err


@pytest.mark.one_host("each host has ports of its own")
def test_just_enough_ports_for_datagrams(mpirun, program):
    assert mpirun.run("-n", 3, program("exchange"),
                      env={**DGRAM, "LANYARD_PORT_RANGE": "22120-22122"})[:2] == (0, "right\n")


@pytest.mark.one_host("the buffer is this host's")
def test_small_receive_buffer(mpirun, program):
    """The buffer has the size that rmem_max usually allows. Packets that do not fit into the buffer are lost
    and must be sent again."""
    code, out, err = mpirun.run("-n", 3, program("exchange"),
                                env={**DGRAM, "LANYARD_SOCKET_BUFFER": "106496", "LANYARD_LOG": "info,paths"})
    assert (code, out) == (0, "right\n"), err
    assert err.count(" 104 KiB of buffer") == 3, err


# A process with CAP_NET_ADMIN may request a buffer of any size. A process with CAP_SETPCAP may give
# up CAP_NET_ADMIN.
CAP_SETPCAP, CAP_NET_ADMIN, PR_CAPBSET_DROP = 8, 12, 24


def has(capability):
    effective = re.search(r"^CapEff:\s*(\w+)", pathlib.Path("/proc/self/status").read_text(), re.M)[1]
    return bool(int(effective, 16) >> capability & 1)


def ask_as_anybody():
    """Takes CAP_NET_ADMIN from all programs that are executed after this call, even by root."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_NET_ADMIN, 0, 0, 0)


def buffers(mpirun, program, wanted, **keywords):
    code, out, err = mpirun.run("-n", 2, program("exchange"), 4 << 20, **keywords,
                                env={**DGRAM, "LANYARD_DGRAM_HARM": "", "LANYARD_SOCKET_BUFFER": wanted,
                                     "LANYARD_LOG": "info,paths"})
    assert (code, out) == (0, "right\n"), err
    return re.findall(r"dgram: UDP at \S+, (\d+) KiB of buffer(.*?), packets", err)


@pytest.mark.one_host("the buffer is this host's")
def test_receive_buffer_that_rmem_max_limits(mpirun, program):
    """An ordinary user requests twice the size that rmem_max allows, and gets half of the request.

    A message must say so and name a remedy. Root gets the whole size.
    """
    if has(CAP_NET_ADMIN) and not has(CAP_SETPCAP):
        pytest.skip("this process cannot give up CAP_NET_ADMIN, with which it gets any buffer")
    most = int(pathlib.Path("/proc/sys/net/core/rmem_max").read_text())
    limited = (str(most // 1024),
               f" (of {2 * most // 1024} wanted: raise net.core.rmem_max where packets are lost)")
    assert buffers(mpirun, program, 2 * most, preexec_fn=ask_as_anybody) == [limited] * 2
    if has(CAP_NET_ADMIN):
        assert buffers(mpirun, program, 2 * most) == [(str(2 * most // 1024), "")] * 2
    assert buffers(mpirun, program, most, preexec_fn=ask_as_anybody) == [(str(most // 1024), "")] * 2
    settings = {**DGRAM, "LANYARD_SOCKET_BUFFER": 2 * most}
    code, out, _ = mpirun.run("doctor", launcher=mpirun.build / "bin" / "lanyard", env=settings,
                              preexec_fn=ask_as_anybody)
    assert code == 0 and re.search(r"note +datagrams: .* of buffer of the .* wanted\n.*\n +Remedy: as root: "
                                   f"sysctl net.core.rmem_max={2 * most}\n", out), out


@pytest.mark.parametrize("seed", range(4))
def test_farewells_that_are_lost_are_not_missed(mpirun, program, seed):
    """Half of all packets are lost, and each process announces its exit only once. The job must end
    nevertheless."""
    code, out, err = mpirun.run("-n", 4, "--timeout", 30, program("star"),
                                env={**DGRAM, "LANYARD_DGRAM_HARM": f"loss=50,seed={seed}"})
    assert (code, out, err) == (0, "", "")
