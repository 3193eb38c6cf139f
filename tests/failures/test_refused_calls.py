"""Tests jobs whose system calls a container, a sandbox or an old kernel refuses.

On every path, the job must continue without the refused call, or end at once with an error message that names
the cause. The tables below list the calls. The filter applies to mpirun and everything that it starts, or to
the ranks alone.
"""
import os
import re
import subprocess
import time

import pytest

SANITIZED = "-fsanitize" in os.environ.get("LANYARD_CC", "")
pytestmark = [pytest.mark.own_paths("it chooses paths itself"),
              pytest.mark.one_host("the filter would lie over the remote shell"),
              pytest.mark.skipif(SANITIZED, reason="sanitizers make system calls of their own, which would "
                                                   "be refused too")]

PATHS = ("shm", "tcp", "dgram")
# Jobs must continue without these calls. Some version of Docker refuses them, or gVisor does not implement
# them, or only kernels of the last few years have them.
DONE_WITHOUT = (
    "recvmmsg", "sendmmsg", "epoll_pwait2", "membarrier", "process_vm_readv", "process_vm_writev", "madvise",
    "sched_getaffinity", "sched_yield", "getrandom", "prctl", "rseq", "statx", "close_range", "memfd_create",
    "setsockopt",
    "setsockopt/*/17/103", "setsockopt/*/17/104",  # UDP_SEGMENT, UDP_GRO
    "recvfrom", "getsockopt", "accept4", "epoll_pwait", "epoll_wait",
    "recvmmsg sendmmsg recvfrom", "epoll_pwait2 epoll_wait", "epoll_pwait2 epoll_pwait",
)
# The ranks can do without these calls, but mpirun cannot.
OF_RANKS = ("recvfrom", "recvmmsg sendmmsg recvfrom", "setsockopt")
LONG = "LANYARD_TEST_ALL" in os.environ


def spec(calls, trouble):
    return ",".join(f"{call}={trouble}" for call in calls.split())


@pytest.fixture
def refused(mpirun, program):
    """Returns the function refused(calls, errno, path, ranks, whole=...), which runs a job. The kernel
    refuses these calls of the job.

    That function returns (exit code, output, standard error, seconds).
    """
    filter_program, exchange = program("refused"), program("exchange")
    if subprocess.run([filter_program, "memfd_create=EPERM", "/bin/true"], capture_output=True,
                      check=False).returncode == 96:
        pytest.skip("the kernel has no seccomp filters")

    def run(calls, trouble, path, ranks=2, *words, whole=False, **settings):
        began = time.monotonic()
        environment = {"LANYARD_PATHS": f"self,{path}", **settings}
        words = words or (30000,)
        if whole:
            done = mpirun.run(spec(calls, trouble), mpirun.path, "-n", ranks, exchange, *words,
                              launcher=filter_program, env=environment)
        else:
            done = mpirun.run("-n", ranks, filter_program, spec(calls, trouble), exchange, *words,
                              env=environment)
        return *done, time.monotonic() - began
    return run


@pytest.mark.parametrize("calls", DONE_WITHOUT)
def test_calls_that_have_a_substitute(refused, calls):
    ways = [("EPERM", 2, calls not in OF_RANKS), ("ENOSYS", 4, False)]
    for number, path in enumerate(PATHS, DONE_WITHOUT.index(calls)):
        for trouble, ranks, whole in ways if LONG or path == "dgram" else [ways[number % 2]]:
            assert refused(calls, trouble, path, ranks,
                           whole=whole)[:3] == (0, "right\n", ""), (path, trouble)


@pytest.mark.parametrize("trouble", ["EPERM", "ENOSYS"])
@pytest.mark.parametrize("path", PATHS)
def test_all_of_them_together(refused, path, trouble):
    left = ("epoll_wait", "setsockopt")  # epoll_wait replaces other calls of the list; other entries are
                                         # special cases of setsockopt
    calls = " ".join(call for call in DONE_WITHOUT if " " not in call and call not in left)
    assert refused(calls, trouble, path, 4)[:3] == (0, "right\n", "")


@pytest.mark.parametrize("path", PATHS)
def test_process_that_locks_itself_in_later(mpirun, program, refused, path):
    """After the first round, the kernel refuses all of these calls, although the process has used them
    before. The job must continue."""
    for ranks in (2, 3):  # on a machine with two processors, 2 ranks have a processor each, and 3 ranks are
                          # oversubscribed
        settings = {"LANYARD_PATHS": f"self,{path}", "LANYARD_SPIN_US": 0}
        assert mpirun.run("-n", ranks, program("exchange"), 1 << 18, "locked",
                          env=settings) == (0, "right\n", "")


def test_job_goes_on_without_threads(refused):
    """Container engines that do not know clone3 refuse it, and the C library then cannot create threads."""
    for path in ("tcp", "dgram"):
        code, out, err, _ = refused("clone3", "EPERM", path)
        assert (code, out) == (0, "right\n"), err
        assert len(re.findall(r"no thread can be made: messages move only while the program is inside MPI",
                              err)) == 2, err
    code, out, err, _ = refused("eventfd2", "EPERM", "tcp")
    assert (code, out) == (0, "right\n"), err
    assert ("no descriptors to sleep at (Operation not permitted): messages move only while the program is "
            "inside MPI") in err


# (calls, path, whether the filter applies to mpirun too, the error message)
NEEDED = [
    ("recvmmsg recvmsg", "dgram", False,
     r"is not reached by datagrams any more: the system refuses this process the calls that send or receive "
     r"them, as a filter \(seccomp\) does; allow recvmsg and sendmsg, or leave dgram out of LANYARD_PATHS"),
    ("socket", "tcp", False, r"this process cannot listen at 127\.0\.0\.1: {}"),
    ("socket", "dgram", False, r"this process cannot receive datagrams at 127\.0\.0\.1: {}"),
    ("bind", "tcp", False, r"this process cannot listen at 127\.0\.0\.1: {}"),
    ("bind", "dgram", False, r"this process cannot receive datagrams at 127\.0\.0\.1: {}"),
    ("getsockname", "tcp", False, r"this process cannot listen at 127\.0\.0\.1: {}"),
    ("getsockname", "dgram", False, r"this process cannot receive datagrams at 127\.0\.0\.1: {}"),
    ("epoll_create1", "tcp", False, r"the kernel gives no epoll descriptor: {}"),
    ("epoll_create1", "dgram", False, r"this process cannot receive datagrams at 127\.0\.0\.1: {}"),
    ("epoll_ctl", "tcp", False, r"a process that sleeps at its sockets could not be woken: {}"),
    ("fallocate", "shm", False, r"allocating \d+ KiB of shared memory failed: {}"),
    ("sendto", "shm", False, r"rank \d lost its launcher \({} on descriptor PMI_FD=\d+\)"),
    ("sendto", "shm", True, r"rank \d lost its launcher \({} on descriptor PMI_FD=\d+\)"),
    ("signalfd4", "shm", True, r"mpirun: the process that guards the ranks cannot be started: {}"),
    ("socketpair", "shm", True, r"mpirun: rank 0: its connection to mpirun cannot be opened: {}"),
    ("pipe2", "shm", True, r"mpirun: rank 0: a pipe for its output cannot be opened: {}"),
    ("clone", "shm", True, r"mpirun: the process that guards the ranks cannot be started: {}"),
]


@pytest.mark.parametrize(("calls", "path", "whole", "said"), NEEDED)
def test_calls_that_are_needed_are_named_at_once(refused, calls, path, whole, said):
    for trouble, text in (("EPERM", "Operation not permitted"), ("ENOSYS", "Function not implemented")):
        code, out, err, seconds = refused(calls, trouble, path, whole=whole)
        assert 0 < code < 128 and out == "", (trouble, code, out, err)
        assert re.search(said.format(text), err), err
        assert "internal error" not in err and "terminate called" not in err
        assert seconds < 20, err  # well before LANYARD_PEER_TIMEOUT; on an idle machine it takes about a
                                  # second


def test_connection_that_is_refused_names_the_cause(refused):
    """A firewall can cause the same error, and an administrator may open the firewall meanwhile. So attempts
    to connect continue until LANYARD_PEER_TIMEOUT."""
    code, out, err, _ = refused("connect", "EPERM", "tcp", LANYARD_PEER_TIMEOUT=2)
    assert 0 < code < 128 and out == "", err
    assert re.search(r"process \d (cannot be reached|is out of reach|.*cannot be "
                     r"connected).*127\.0\.0\.1:\d+: Operation not permitted", err), err
