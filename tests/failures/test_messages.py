"""Tests messages that are too long, are never received or never arrive. The tests check the text that the
user gets, and the exit code."""
import re

import pytest

TRUNCATE = 15


@pytest.mark.parametrize("posted_first", [0, 1])
@pytest.mark.parametrize(("sent", "room"),
                         [(4, 1), (100, 99), (2000, 500), (10000, 9999), (200000, 3), (5, 0)])
def test_truncation_names_both_sides(mpirun, program, sent, room, posted_first):
    code, out, err = mpirun.run("-n", 3, program("messages"), "truncated", "return", sent, room, posted_first)
    assert (code, err) == (0, "")
    assert re.fullmatch(r"MPI_(Recv|Wait)\(.*\) on rank 2 \([^)]+\): the message from rank 0 with tag 7 has "
                        rf"{4 * sent} bytes, but the receive posted for it \({room} elements of 4 bytes\) "
                        rf"has room for {4 * room}\n", out), out


def test_truncation_is_fatal_by_default(mpirun, program):
    code, out, err = mpirun.run("-n", 3, program("messages"), "truncated", "fatal", 100, 10, 0)
    assert (code, out) == (TRUNCATE, "")
    assert re.search(r"Lanyard: MPI_Recv\(.*count=10, .*source=0, tag=7, comm=MPI_COMM_WORLD, .*\) on rank 2 "
                     r"\([^)]+\): the message from rank 0 with tag 7 has 400 bytes, but .* has room for 40; "
                     "the job is aborted", err), err


@pytest.mark.parametrize(("what", "words"), [
    ("short",
     "rank 1 .*MPI_Finalize: 2 messages were sent to this rank, but never received; the first is from rank "
     "0 with tag 5, 12 bytes"),
    ("probed",
     r"rank 0 .*MPI_Finalize: 1 message was taken by MPI_Mprobe or MPI_Improbe, but never received\n"),
    ("receive", r"rank 0 .*MPI_Finalize: 1 posted receive was never matched"),
    ("receive",
     "rank 0 .*MPI_Finalize: 1 request was never completed or freed; the first is a receive from any rank "
     r"with tag 6\n"),
    ("handles",
     r'rank 0 .*MPI_Finalize: never freed: 1 communicator \("the_lake"\), 2 datatypes, 1 operation, '
     r'1 info object, 1 group, 2 error handlers, 1 attribute key\n'),
])
def test_debug_mode_tells_what_is_left(mpirun, program, what, words):
    code, out, err = mpirun.run("-n", 2, program("messages"), "leave", what, env={"LANYARD_CHECK": "on"})
    assert (code, out) == (0, "")
    assert re.search(words, err), err


def test_debug_mode_says_nothing_where_all_was_freed(mpirun, program):
    code, out, err = mpirun.run("-n", 2, program("messages"), "leave", "handles", env={"LANYARD_CHECK": "on"})
    assert (code, out) == (0, "")
    assert "rank 1" not in err


@pytest.mark.parametrize("what", ["short", "receive", "handles"])
def test_without_debug_mode_nothing_is_said(mpirun, program, what):
    assert mpirun.run("-n", 2, program("messages"), "leave", what) == (0, "", "")


def test_debug_mode_tells_what_finalize_waits_for(mpirun, program):
    """A long message cannot leave while no receive matches it, so MPI_Finalize waits. A line must state why
    it waits."""
    process = mpirun.start("-n", 2, program("messages"), "leave", "long", env={"LANYARD_CHECK": "on"})
    said = mpirun.read_until(process.stderr, lambda text: text.count(b"\n") >= 1).decode()
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert re.search("rank 0 .*MPI_Finalize: waits for 1 send that no receive has matched; the first is to "
                     r"rank 1 with tag 5, 1048576 bytes", said), said


WAITS = (r"rank 0: waits in MPI_Recv with any rank, tag 41 on the_lake, for \d",
         r"rank 1: waits in MPI_Ssend with rank 2, tag 42 on the_lake, for \d",
         r"rank 2: waits in MPI_Probe with rank 3, any tag on the_lake, for \d",
         r"rank 3: waits in MPI_Wait for a receive from rank 0, tag 43 on the_lake, for \d",
         "rank 4: waits in MPI_Waitall for 2 requests: a receive from rank 0, tag 44; a receive from rank "
         r"0, tag 45 on the_lake, for \d",
         r"rank 5: waits in MPI_Allreduce on the_lake, number 1 of this communicator, for \d",
         r"rank 6: waits in MPI_Comm_dup on the_lake, number 1 of this communicator, for \d",
         r"rank 7: waits in MPI_Bcast with root 0 on the_lake, number 1 of this communicator, for \d",
         "rank 8: waits in MPI_Waitall for 4 requests: alltoall number 1; a send to rank 9, tag 46; a "
         r"receive from any rank, any tag; and 1 more, for \d",
         r"rank 9: is not waiting in MPI",
         r"rank 10: waits in MPI_Send with rank 9, tag 48 on the_lake, for \d",
         r"rank 11: waits in MPI_Finalize for a send to rank 9, tag 49 on MPI_COMM_WORLD, for \d")


def unsaid(text):
    return [words for words in WAITS if not re.search(words, text)]


def test_quit_says_what_each_rank_waits_for(mpirun, program):
    process = mpirun.start("-n", 12, program("messages"), "stuck")
    mpirun.read_until(process.stdout, lambda text: text.count(b"ready") == 12)
    said = mpirun.quit_until(process, 13, lambda said: not unsaid(said))
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 143 and not unsaid(said), said


def test_timeout_says_what_each_rank_waits_for(mpirun, program):
    code, _, err = mpirun.run_out(3, lambda err: not unsaid(err), "-n", 12, program("messages"), "stuck")
    assert code == 124 and not unsaid(err), err
