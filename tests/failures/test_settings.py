"""A setting with an unusable value must stop the job with an error message.

A variable with an unknown name must cause a warning that suggests the most similar setting.
"""
import os
import pathlib
import re
import subprocess

import pytest


USAGE_ERROR = 2
MPI_ERR_ARG = 13  # the exit code of a program without mpirun, whose MPI_Init raises the error


@pytest.mark.parametrize(("name", "value", "words"), [
    ("LANYARD_PATHS", "smh",
     'there is no path "smh", did you mean shm?; the paths are self, shm, tcp and dgram'),
    ("LANYARD_PATHS", "self,udp", 'there is no path "udp"; the paths are self, shm, tcp and dgram'),
    ("LANYARD_PATHS", "shm,", 'there is no path ""; the paths are self, shm, tcp and dgram'),
    ("LANYARD_PATHS", ",", "it names no path; the paths are self, shm, tcp and dgram"),
    ("LANYARD_EAGER_LIMIT", "abc",
     "it takes a whole number of bytes from -1 to 262144 (k, m and g may follow)"),
    ("LANYARD_EAGER_LIMIT", "-2", "it takes a whole number of bytes from -1 to 262144"),
    ("LANYARD_EAGER_LIMIT", "16kk", "it takes a whole number of bytes from -1 to 262144"),
    ("LANYARD_EAGER_LIMIT", "1g", "it takes a whole number of bytes from -1 to 262144"),
    ("LANYARD_EAGER_LIMIT", "99999999999999999999", "it takes a whole number of bytes from -1 to 262144"),
    ("LANYARD_EAGER_LIMIT", "18014398509481984k", "it takes a whole number of bytes from -1 to 262144"),
    ("LANYARD_CMA", "maybe", "it takes on or off"),
    ("LANYARD_CHECK", "ON", "it takes on or off"),
    ("LANYARD_CHECKSUM", "crc", "it takes on or off"),
    ("LANYARD_DGRAM_IO", "tcp",
     "it takes udp, libfabric, or libfabric with a colon and the name of a provider, like libfabric:verbs"),
    ("LANYARD_DGRAM_IO", "libfabric:",
     "it takes udp, libfabric, or libfabric with a colon and the name of a provider"),
    ("LANYARD_DGRAM_IO", "libfabric:a b",
     "it takes udp, libfabric, or libfabric with a colon and the name of a provider"),
    ("LANYARD_DGRAM_PROGRESS", "engin",
     'there is no way to drive datagrams "engin", did you mean engine?; it takes auto, engine, thread or '
     'hybrid'),
    ("LANYARD_DGRAM_PROGRESS", "caller",
     'there is no way to drive datagrams "caller"; it takes auto, engine, thread or hybrid'),
    ("LANYARD_DGRAM_HARM", "loss=1;double=1",
     "'loss=1;double=1' cannot be: loss takes per cent of the packets, from 0 to 100"),
    ("LANYARD_DGRAM_HARM", "loss=1,lose=1",
     "'lose=1' is not understood; it takes a list such as "
     "loss=1,double=1,overtake=1,damage=0.1,longest=1472,seed=7"),
    ("LANYARD_DGRAM_HARM", "loss", "'loss' is not understood"),
    ("LANYARD_DGRAM_HARM", "damage=100.1",
     "'damage=100.1' cannot be: damage takes per cent of the packets, from 0 to 100"),
    ("LANYARD_DGRAM_HARM", "longest=511",
     "'longest=511' cannot be: longest takes the bytes of a packet, from 512 to 65535"),
    ("LANYARD_DGRAM_HARM", "longest=1472.5", "longest takes the bytes of a packet"),
    ("LANYARD_DGRAM_HARM", "seed=99999999999999999999",
     "seed takes a whole number from 0 to 9007199254740992"),
    ("LANYARD_DGRAM_HARM", "loss=1,loss=2", "loss is given twice"),
    ("LANYARD_PORT_RANGE", "5000",
     "it takes two ports from 1 to 65535 with a dash between them, like 5000-5100"),
    ("LANYARD_PORT_RANGE", "5100-5000", "it takes two ports"),
    ("LANYARD_PORT_RANGE", "1-65536", "it takes two ports"),
    ("LANYARD_PORT_RANGE", "a-b", "it takes two ports"),
    ("LANYARD_PEER_TIMEOUT", "0", "it takes a whole number of seconds from 1 to 86400"),
    ("LANYARD_PEER_TIMEOUT", "1k", "it takes a whole number of seconds from 1 to 86400"),
    ("LANYARD_SPIN_US", "1k", "it takes a whole number of microseconds from -1 to 1000000"),
    ("LANYARD_PROGRESS", "helpr",
     'there is no way of progress "helpr", did you mean helper?; it takes auto, helper or caller'),
    ("LANYARD_CONNECT", "eager", 'there is no way to connect "eager"; it takes lazy or all'),
    ("LANYARD_LOG", "loud", 'there is no level "loud"; it begins with info, debug or trace'),
    ("LANYARD_LOG", "debugg",
     'there is no level "debugg", did you mean debug?; it begins with info, debug or trace'),
    ("LANYARD_LOG", "shm", "it begins with info, debug or trace, and parts may follow after commas"),
    ("LANYARD_COLL", "allreduce=rnig", '"rnig" is no algorithm for allreduce; known are exchange, '),
    ("LANYARD_COLL", "bcast=binomial,allredcue=ring",
     '"allredcue" is no collective operation; known are barrier, '),
    ("LANYARD_COLL", "allreduce:big=ring",
     '"allreduce:big=ring" names no number of bytes after the colon; write allreduce:64k=ALGORITHM'),
    ("LANYARD_LOG", "info,p2q",
     'there is no part "p2q", did you mean p2p?; the parts are settings, launch, paths, shm, tcp, p2p,'),
])
@pytest.mark.parametrize("alone", [False, True])
def test_value_that_cannot_be_used(mpirun, program, name, value, words, alone):
    if alone:
        code, out, err = mpirun.run("end", launcher=program("life"), env={name: value})
    else:
        code, out, err = mpirun.run("-n", 2, program("life"), "end", env={name: value})
    assert code == (MPI_ERR_ARG if alone else USAGE_ERROR), err
    assert out == ""
    assert err.count(f"{name}={value} cannot be used: ") == 1 and words in err, err


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(("datagrams", "all_messages", "words"), [
    ("thread", "caller", "asks for no thread beside the program's"),
    ("hybrid", "caller", "asks for no thread beside the program's"),
    ("engine", "helper", "asks for a thread that moves messages beside the program's"),
])
def test_settings_that_contradict_each_other(mpirun, program, datagrams, all_messages, words, alone):
    """The message must name both settings, and no rank may start."""
    ranks = [] if alone else ["-n", 2, program("life")]
    code, out, err = mpirun.run(*ranks, "end", launcher=program("life") if alone else None,
                                env={"LANYARD_DGRAM_PROGRESS": datagrams, "LANYARD_PROGRESS": all_messages})
    assert code == (MPI_ERR_ARG if alone else USAGE_ERROR), err
    assert out == ""
    sentence = (f"LANYARD_DGRAM_PROGRESS={datagrams} cannot be used: LANYARD_PROGRESS={all_messages} "
                f"{words}; leave one of the two out")
    assert err.count(sentence) == 1, err


@pytest.mark.parametrize("paths", ["self,dgram", "self,tcp"])
@pytest.mark.parametrize(("datagrams", "all_messages"), [
    ("engine", ""), ("thread", ""), ("hybrid", ""), ("engine", "caller"), ("thread", "helper"),
    ("hybrid", "helper"), ("auto", "caller"), ("auto", "helper"),
])
def test_ways_to_drive_datagrams(mpirun, program, datagrams, all_messages, paths):
    """Every combination of LANYARD_DGRAM_PROGRESS and LANYARD_PROGRESS must work. On a path without datagrams
    LANYARD_DGRAM_PROGRESS has no effect."""
    settings = {"LANYARD_DGRAM_PROGRESS": datagrams, "LANYARD_PROGRESS": all_messages, "LANYARD_PATHS": paths}
    assert mpirun.run("-n", 3, program("exchange"), 100000, env=settings) == (0, "right\n", "")


@pytest.mark.parametrize("name", ["LANYARD_PEER_TIMEOUT", "LANYARD_SPIN_US"])
def test_times_are_offered_no_suffix(mpirun, program, name):
    _, _, err = mpirun.run("-n", 1, program("life"), "end", env={name: "soon"})
    assert "seconds from " in err and "may follow" not in err, err


def test_blanks_beside_commas(mpirun, program):
    assert mpirun.run("-n", 2, program("life"), "end",
                      env={"LANYARD_PATHS": "self, shm ,tcp", "LANYARD_LOG": "info, p2p"})[0] == 0


@pytest.mark.parametrize(("folder", "why"),
                         [("/nowhere", "No such file or directory"), ("/etc/passwd", "it is no folder")])
def test_folder_of_shared_memory_that_is_none(mpirun, program, folder, why):
    sentence = (f"mpirun: LANYARD_SHM_DIR={folder} cannot be used: {why}; name a folder in memory, or unset "
                "it\n")
    assert mpirun.run("-n", 2, program("life"), "end",
                      env={"LANYARD_SHM_DIR": folder}) == (USAGE_ERROR, "", sentence)
    assert mpirun.run(
        "-n", 2, "-x", f"LANYARD_SHM_DIR={folder}", program("life"), "end") == (USAGE_ERROR, "", sentence)


@pytest.mark.own_paths("datagrams need their interfaces on a single host too")
@pytest.mark.one_host("several hosts need their interfaces")
def test_interface_that_a_single_host_does_not_have(mpirun, program):
    code, _, err = mpirun.run("-n", 2, program("life"), "end", env={"LANYARD_INTERFACES": "eth77"})
    assert code == 0
    assert re.fullmatch("mpirun: LANYARD_INTERFACES names 'eth77', which is no interface.*; it is not "
                        r"needed on a single host\n", err), err


@pytest.mark.parametrize("name", [
    "LANYARD_PATHS", "LANYARD_LOG", "LANYARD_CHECK", "LANYARD_SHM_DIR", "LANYARD_EAGER_LIMIT",
    "LANYARD_EAGER_CREDIT", "LANYARD_CMA", "LANYARD_SPIN_US", "LANYARD_INTERFACES", "LANYARD_PORT_RANGE",
    "LANYARD_SOCKET_BUFFER", "LANYARD_PEER_TIMEOUT", "LANYARD_PROGRESS", "LANYARD_CONNECT",
    "LANYARD_FIRST_BYTES", "LANYARD_RETAIN", "LANYARD_COPY_LOOP", "LANYARD_DEMOTE", "LANYARD_TESTS_PER_YIELD",
    "LANYARD_CHECKSUM", "LANYARD_DGRAM_IO", "LANYARD_DGRAM_PROGRESS",
])
def test_empty_value_is_as_if_unset(mpirun, program, name):
    assert mpirun.run("-n", 2, program("exchange"), 100000, env={name: ""}) == (0, "right\n", "")


@pytest.mark.one_host("the sentence is about ranks of one node")
def test_paths_that_reach_nobody(mpirun, program):
    code, _, err = mpirun.run("-n", 2, program("life"), "end", env={"LANYARD_PATHS": "self"})
    assert code not in (0, 134, 139) and code < 128
    why = ("rank [01] cannot reach rank [01]: LANYARD_PATHS=self leaves no path to another process of this "
           "node; add shm, tcp or dgram")
    assert re.search(why, err), err


@pytest.mark.parametrize(("name", "nearest"), [
    ("LANYARD_EAGER_LIMITS", "LANYARD_EAGER_LIMIT"), ("LANYARD_PATH", "LANYARD_PATHS"),
    ("LANYARD_CHEK", "LANYARD_CHECK"),
])
@pytest.mark.parametrize("alone", [False, True])
def test_name_that_is_none(mpirun, program, name, nearest, alone):
    if alone:
        code, out, err = mpirun.run("end", launcher=program("life"), env={name: "1"})
    else:
        code, out, err = mpirun.run("-n", 2, program("life"), "end", env={name: "1"})
    assert (code, out) == (0, "")
    assert err.count(f"{name} is not a setting of Lanyard, did you mean {nearest}?") == 1, err


@pytest.mark.parametrize(("name", "value"), [
    ("LANYARD_EAGER_LIMIT", "4k"), ("LANYARD_EAGER_LIMIT", "0"), ("LANYARD_CMA", "off"),
    pytest.param("LANYARD_PATHS", "shm", marks=pytest.mark.one_host("shared memory")),
    pytest.param("LANYARD_PATHS", "self,shm", marks=pytest.mark.one_host("shared memory")),
    ("LANYARD_PATHS", "tcp"), ("LANYARD_SPIN_US", "-1"), ("LANYARD_EAGER_CREDIT", "0"),
    ("LANYARD_CHECKSUM", "on"),
])
def test_value_that_can_be_used(mpirun, program, name, value):
    assert mpirun.run("-n", 3, program("exchange"), 100000, env={name: value}) == (0, "right\n", "")


@pytest.mark.parametrize(("algorithm", "messages"), [("ring", 24), ("linear", 6), ("recursive_doubling", 8)])
def test_algorithm_of_a_collective(mpirun, program, algorithm, messages):
    """Checks the number of messages of 4 ranks, which shows the algorithm: every piece goes around the ring
    twice, or everything goes to one rank and back, or pairs of ranks exchange in two rounds."""
    assert mpirun.run("-n", 4, program("counted"),
                      env={"LANYARD_COLL": f"allreduce={algorithm}"}) == (0, f"{messages}\n", "")


def test_checksums_over_tcp(mpirun, program):
    assert mpirun.run("-n", 3, program("exchange"), 1_000_000,
                      env={"LANYARD_PATHS": "self,tcp", "LANYARD_CHECKSUM": "on"}) == (0, "right\n", "")


@pytest.mark.parametrize("on", [0, 1])
def test_checksums_of_one_rank_only(mpirun, program, on):
    """The job must end at once, with an error message from one side or from both."""
    words = [("-n", 1, "-env", "LANYARD_CHECKSUM", "on" if rank == on else "off",
              program("exchange"), 100_000) for rank in range(2)]
    code, _, err = mpirun.run(*words[0], ":", *words[1], env={"LANYARD_PATHS": "self,tcp"}, timeout=60)
    assert code not in (0, 134, 139)
    assert "LANYARD_CHECKSUM differs between the processes; set it alike for all" in err


def installed(name, package):
    library = next((path for folder in ("/usr/lib", "/lib", "/usr/local/lib")
                    for path in pathlib.Path(folder).rglob(name)), None)
    assert library, f"apt-get install {package}"
    return library.resolve()


def run_without(mpirun, library, *words, **settings):
    """Runs a command in a mount namespace in which the library is replaced by an empty file."""
    unshare = (["unshare", "--mount"] if os.geteuid() == 0
               else ["unshare", "--user", "--map-root-user", "--mount"])
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("mount namespaces are refused")
    hide = 'mount --bind /dev/null "$1" || exit 94; shift; exec "$@"'
    return mpirun.run(*unshare[1:], "sh", "-c", hide, "sh", library, *words, launcher="unshare", env=settings)


def test_checksums_where_their_library_is_missing(mpirun, program):
    def run(*words):
        return run_without(mpirun, installed("libisal.so.2", "libisal2"), *words, LANYARD_PATHS="self,tcp",
                           LANYARD_CHECKSUM="on")
    code, out, err = run(mpirun.path, "-n", 2, program("exchange"))
    assert code not in (0, 94, 134, 139) and out == ""
    assert re.search(r"MPI_Init on rank [01]: .*LANYARD_CHECKSUM=on needs ISA-L .*apt-get install libisal2",
                     err), err
    code, out, err = run(mpirun.build / "bin" / "lanyard", "doctor")
    assert code == 1 and re.search(r"problem +checksums: .*\n.*Remedy: apt-get install libisal2", out), out


@pytest.mark.one_host("a part of the ranks is given its paths here")
@pytest.mark.parametrize(("usual", "other", "uses"), [
    ("self,dgram", "self,tcp", ("dgram", "tcp")),
    ("self,tcp", "dgram,self", ("tcp", "dgram")),
    ("self,shm,tcp", "self,tcp", ("shm", "tcp")),
])
def test_ranks_with_different_paths(mpirun, program, usual, other, uses):
    """The lowest rank whose paths differ from those of rank 0 must report the difference once, before any
    message is sent."""
    ranks = [word for paths in (usual, other, other, usual, other)
             for word in (":", "-n", 1, "env", f"LANYARD_PATHS={paths}", program("life"), "end")][1:]
    code, out, err = mpirun.run(*ranks)
    assert (code, out) == (1, ""), err
    told = re.findall(r"MPI_Init on rank (\d): ranks reach each other by different paths: rank \d has "
                      r"LANYARD_PATHS=(\S+) and so uses (\S+), rank 0 has (\S+) and so uses (\S+); set it "
                      "alike for all ranks, on all hosts", err)
    assert told == [("1", other, uses[1], usual, uses[0])], err


@pytest.mark.one_host("a part of the ranks is given its paths here")
def test_paths_that_come_to_the_same(mpirun, program):
    words = [word for paths in ("self,shm,tcp", "shm", "tcp,shm,self")
             for word in (":", "-n", 1, "env", f"LANYARD_PATHS={paths}", program("exchange"))][1:]
    assert mpirun.run(*words)[:2] == (0, "right\n")


@pytest.mark.parametrize(("provider", "words"), [
    ("nope", r'libfabric [0-9.]+ on this machine has no provider "nope"; it has .*udp'),
    ("tcp",
     "libfabric [0-9.]+ on this machine has the provider tcp, but without datagram endpoints "
     r"\(FI_EP_DGRAM\); those that have are .*udp"),
])
def test_datagrams_by_a_provider_that_has_none(mpirun, program, provider, words):
    code, out, err = mpirun.run(
        "-n", 2, program("exchange"), 1000,
        env={"LANYARD_PATHS": "self,dgram", "LANYARD_DGRAM_IO": f"libfabric:{provider}"})
    assert code not in (0, 134, 139) and out == ""
    assert re.search(rf"MPI_Init on rank [01]: .*LANYARD_DGRAM_IO=libfabric:{provider}: {words}", err), err


def test_datagrams_by_libfabric_where_it_is_missing(mpirun, program):
    library = installed("libfabric.so.1", "libfabric-dev")
    code, out, err = run_without(mpirun, library, mpirun.path, "-n", 2, program("exchange"), 1000,
                                 LANYARD_PATHS="self,dgram", LANYARD_DGRAM_IO="libfabric:udp")
    assert code not in (0, 94, 134, 139) and out == ""
    assert re.search("MPI_Init on rank [01]: .*LANYARD_DGRAM_IO=libfabric:udp: it needs libfabric .*apt-get "
                     "install libfabric1", err), err


@pytest.mark.parametrize(("one", "other", "words"), [
    ("udp", "libfabric:udp",
     "process [01] takes messages by (UDP|libfabric:udp) and this process sends them by "
     "(UDP|libfabric:udp): set LANYARD_DGRAM_IO alike for all processes"),
    ("libfabric:udp", "libfabric:sockets",
     r"process [01] takes messages by libfabric:\w+ and this process sends them by libfabric:\w+"),
])
def test_datagrams_by_different_means(mpirun, program, one, other, words):
    """The job must end at once, with an error message from one side or from both."""
    first, second = (("-n", 1, "-env", "LANYARD_DGRAM_IO", io, program("exchange"), 1000)
                     for io in (one, other))
    code, _, err = mpirun.run(*first, ":", *second, env={"LANYARD_PATHS": "self,dgram"}, timeout=60)
    assert code not in (0, 134, 139)
    assert re.search(words, err), err
