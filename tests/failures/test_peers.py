"""Tests ranks that die during a message, messages that are sent in both directions before any is received,
and jobs with too few descriptors.

These tests use one machine, with shared memory, TCP and datagrams. tests/lab/test_failures.py has the same
tests across hosts.
"""
import os
import re
import subprocess
import time

import pytest

WAYS = {"shm": {}, "tcp": {"LANYARD_PATHS": "self,tcp"}, "dgram": {"LANYARD_PATHS": "self,dgram"}}
# (number of ranks, settings) for each case. The settings select a path, and for some cases another protocol
# on this path. A single rank sends to itself.
CROSSING = {"shm": (2, {}), "tcp": (2, WAYS["tcp"]), "self": (1, {}),
            "shm without direct copies": (2, {"LANYARD_CMA": "off"}),
            "dgram": (2, {**WAYS["dgram"], "LANYARD_DGRAM_HARM": "loss=5,double=5,overtake=5,longest=1472"}),
            "tcp with checks": (2, {**WAYS["tcp"], "LANYARD_CHECKSUM": "on"})}
MOMENTS = ("before-any-contact", "before-it-answers", "after-messages", "after-an-offer", "receiving-bulk",
           "sending-bulk", "in-a-collective", "in-finalize")


@pytest.fixture(scope="session")
def settings():
    """Returns a function that takes a build folder and returns the output of its `lanyard info
    --settings`."""
    return lambda build: subprocess.run([build / "bin" / "lanyard", "info", "--settings"],
                                        capture_output=True, text=True, check=True).stdout


@pytest.fixture(params=["default", "auto", "helper", "caller"])
def progress(request, mpirun, settings):
    """The settings of the case that decide how messages progress while the program computes."""
    if request.param == "default":
        return {}
    if "LANYARD_PROGRESS" not in settings(mpirun.build):
        pytest.skip("this build has no LANYARD_PROGRESS")
    return {"LANYARD_PROGRESS": request.param}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("moment", MOMENTS)
def test_rank_that_dies_ends_the_job_in_time(mpirun, program, way, moment):
    code, out, err = mpirun.run("-n", 3, program("dying"), moment, 1, env=WAYS[way])
    ended = time.time()
    assert (code, out) == (137, "")
    died, told = re.fullmatch(r"died at ([\d.]+)\nmpirun: (rank 1 \(\S+dying, process \d+ on \S+\) was "
                              r"killed by signal 9 \(SIGKILL: Killed\))\n",
                              err).groups()
    assert ended - float(died) < mpirun.soon_s, told


@pytest.mark.parametrize("way", CROSSING if "LANYARD_TEST_ALL" in os.environ else WAYS)
def test_messages_that_cross_arrive(mpirun, program, way, progress):
    ranks, settings = CROSSING[way]
    assert mpirun.run("-n", ranks, program("crossing"), env={**settings, **progress}) == (0, "right\n", "")


# The undefined-behaviour sanitizer reads the first object of each type through a pipe. If no descriptor is
# left for the pipe, the sanitizer mistakenly reports that the object has another type. Tests that use up all
# descriptors are therefore skipped in builds with this sanitizer.
SANITIZED = "-fsanitize" in os.environ.get("LANYARD_CC", "")


@pytest.mark.parametrize("descriptors", [30] if SANITIZED else [30, 16])
def test_few_descriptors_for_many_peers(mpirun, program, descriptors):
    """Idle connections must be closed to make room for other connections, and be opened again when they are
    needed. They are closed early, and also when the limit of descriptors is reached."""
    script = f"ulimit -n {descriptors}; exec {program('star')}"
    code, _, err = mpirun.run("-n", 1, "sh", "-c", script, ":", "-n", 15, program("star"), env=WAYS["tcp"])
    assert (code, err) == (0, "")


if not SANITIZED:

    @pytest.mark.one_host("a rank listens at more addresses there, and the limit is counted for one")
    def test_too_few_descriptors_for_any_peer(mpirun, program):
        script = f"ulimit -n 11; exec {program('star')}"
        words = "-n", 1, "sh", "-c", script, ":", "-n", 15, program("star")
        told = ("lanyard rank 0 [tcp] no socket can be opened for a further connection of the job: Too many "
                "open files; raise the limit of open files (ulimit -n)\n")
        code, out, err = mpirun.run_out(3, lambda err: err.startswith(told), *words, env=WAYS["tcp"])
        assert code not in (0, 134, 139) and out == "" and err.startswith(told), err
