"""Tests processes to which the system refuses threads, memory or the call membarrier. They must continue
without the refused thing, or end with a message."""
import os
import re
import subprocess

import pytest

SANITIZED = "-fsanitize" in os.environ.get("LANYARD_CC", "")
NO_THREAD = (r"lanyard rank \d \[engine\] no thread can be made: messages move only while the "
             r"program is inside MPI")


@pytest.fixture
def threadless(program):
    """The first word of a command line. With it the kernel refuses to create threads for the command."""
    wrapper = program("threadless")
    if subprocess.run([wrapper, "/bin/true"], capture_output=True, check=False).returncode == 96:
        pytest.skip("the kernel has no seccomp filters")
    return wrapper


@pytest.mark.own_paths("it is about these paths")
@pytest.mark.skipif("thread" in os.environ.get("LANYARD_CC", ""),
                    reason="a sanitizer that has a thread of its own")
@pytest.mark.parametrize("path", ["tcp", "dgram"])
def test_ranks_that_can_have_no_threads_go_on_without(mpirun, program, threadless, path):
    env = {"LANYARD_PATHS": f"self,{path}", "LANYARD_PROGRESS": "helper"}
    code, out, err = mpirun.run("-n", 3, threadless, program("exchange"), env=env)
    assert (code, out) == (0, "right\n"), err
    assert err and all(re.fullmatch(NO_THREAD, line) for line in err.splitlines()), err


@pytest.mark.skipif(SANITIZED, reason="the memory of a sanitizer is its own")
@pytest.mark.parametrize("limit", ["-v", "-d"])
def test_a_process_that_gets_no_more_memory_ends_with_a_sentence(mpirun, program, limit):
    code, out, err = mpirun.run("-n", 2, program("hungry"), limit)
    assert (code, out) == (39, "a line\n"), err  # 39: MPI_ERR_NO_MEM
    told, by_mpirun = err.splitlines()
    assert re.fullmatch(rf"Lanyard: rank 1 gets no more memory: ulimit {limit} allows it \d+ KiB; "
                        r"raise that, or ask for less; it ends", told), err
    assert re.fullmatch(r"mpirun: rank 1 \(\S*hungry, process \d+ on \S+\) ended with exit code 39",
                        by_mpirun), err


@pytest.mark.skipif(SANITIZED, reason="the memory of a sanitizer is its own")
@pytest.mark.parametrize("limit", ["-v", "-d"])
def test_a_call_that_needs_too_much_memory_fails_and_the_process_goes_on(mpirun, program, limit):
    calls = ["MPI_Psend_init", "MPI_Precv_init", "MPI_Sendrecv_replace", "MPI_Isendrecv_replace"]
    code, out, err = mpirun.run("-n", 1, program("hungry"), limit, "calls")
    assert (code, out.splitlines()) == (0, [f"{call}: MPI_ERR_NO_MEM" for call in calls] + ["right"]), err


@pytest.mark.one_host("ranks that share no memory make no barriers in each other")
@pytest.mark.own_paths("it is about shared memory")
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="ranks that share a processor make no barriers")
def test_barriers_may_be_refused_later(mpirun, program, threadless):
    assert mpirun.run("-n", 2, program("barrierless")) == (0, "", "")
