"""Tests how jobs end: exit codes, messages, signals and time limits. No process of the job must survive,
whichever process dies. The fixture `mpirun` (conftest.py) checks after every test that nothing is left."""
import os
import pathlib
import random
import re
import signal
import subprocess
import time

import pytest

# Shell commands whose processes are hard to find: in other process groups and sessions, and without a parent.
FAMILY = """
sleep 1000 &
setsid sleep 1000 &
setsid sh -c 'sleep 1000 & sleep 1000' &
(setsid sh -c 'trap "" TERM HUP INT; sleep 1000 & wait; sleep 1000' &)
echo ready
"""


def ready(mpirun, process, lines):
    """Waits for this many lines "ready"."""
    mpirun.read_until(process.stdout, lambda text: text.count(b"ready\n") >= lines)


def finish(process):
    """(exit code, standard error) of a process with piped streams, in bytes."""
    _, err = process.communicate(timeout=60)
    return process.returncode, err.decode()


def test_success_is_silent(mpirun):
    assert mpirun.run("-n", 4, "true") == (0, "", "")


def test_exit_code_of_a_rank(mpirun):
    code, out, err = mpirun.run("-n", 3, "sh", "-c", "test $PMI_RANK = 1 && exit 17; sleep 1000")
    assert (code, out) == (17, "")
    assert re.fullmatch(
        rf"mpirun: rank 1 \(sh, process \d+ on {os.uname().nodename}\) ended with exit code 17\n", err)


def test_first_failure_counts(mpirun):
    code, _, err = mpirun.run("-n", 3, "sh", "-c",
                              "test $PMI_RANK = 2 && exit 3; trap 'exit 9' TERM; sleep 1000 & wait")
    assert code == 3
    assert err.count("\n") == 1 and "rank 2" in err


def test_programs_are_named(mpirun):
    code, _, err = mpirun.run("-n", 1, "sleep", "1000", ":", "-n", 1, "false")
    assert code == 1
    assert "rank 1 (false, process" in err


@pytest.mark.parametrize("name", ["SEGV", "ABRT", "KILL", "TERM", "USR1", "FPE"])
def test_rank_killed_by_a_signal(mpirun, name):
    number = getattr(signal, f"SIG{name}")
    code, _, err = mpirun.run("-n", 3, "sh", "-c",
                              f"ulimit -c 0; test $PMI_RANK = 1 && kill -{name} $$; exec sleep 1000")
    assert code == 128 + number
    assert re.search(
        rf"^mpirun: rank 1 \(sh, process \d+ on .*\) was killed by signal {number:d} \(SIG{name}: ", err)
    assert err.count("\n") == 1 and "memory" not in err


def test_rank_killed_from_outside_with_its_family(mpirun):
    process = mpirun.start("-n", 2, "sh", "-c", FAMILY + "echo $$ > pid.$PMI_RANK; exec sleep 1000")
    ready(mpirun, process, 2)
    mpirun.wait_until(lambda: (mpirun.folder / "pid.1").exists() and
                      (mpirun.folder / "pid.1").read_text().strip(), "rank 1 wrote its id")
    os.kill(int((mpirun.folder / "pid.1").read_text()), signal.SIGKILL)
    code, err = finish(process)
    assert code == 137
    assert "rank 1 (sh, process" in err and "was killed by signal 9 (SIGKILL: Killed)" in err
    assert not mpirun.alive()


def test_ranks_that_ignore_term_are_killed_soon(mpirun):
    began = time.monotonic()
    code, _, _ = mpirun.run("-n", 2, "sh", "-c",
                            "test $PMI_RANK = 0 && { sleep 0.2; exit 4; }; trap '' TERM; sleep 1000 & wait; "
                            "wait; sleep 1000")
    assert code == 4
    assert 0.9 < time.monotonic() - began < mpirun.soon_s


def test_stopped_ranks_end_too(mpirun):
    code, _, _ = mpirun.run("-n", 2, "sh", "-c",
                            "test $PMI_RANK = 0 && { sleep 0.2; exit 4; }; kill -STOP $$")
    assert code == 4


def test_what_a_successful_job_leaves_behind_is_ended(mpirun):
    code, out, err = mpirun.run("-n", 2, "sh", "-c", FAMILY)
    assert (code, out, err) == (0, "ready\nready\n", "")
    assert not mpirun.alive()


def test_output_held_open_by_the_left_behind_does_not_delay_the_end(mpirun):
    began = time.monotonic()
    assert mpirun.run("-n", 1, "sh", "-c", "setsid sleep 1000 & exit 0") == (0, "", "")
    assert time.monotonic() - began < mpirun.soon_s


# Its first thread ends, and another thread and a child go on.
HEADLESS = r"""
#include <pthread.h>
#include <unistd.h>
static void *stay(void *unused) {
    for (;;) pause();
    return unused;
}
int main(void) {
    pthread_t thread;
    if (fork() == 0) for (;;) pause();
    pthread_create(&thread, NULL, stay, NULL);
    pthread_exit(NULL);
}
"""


def test_process_whose_first_thread_has_ended_is_ended_too(mpirun, built):
    program = built("headless", HEADLESS, "gcc", "-pthread")
    began = time.monotonic()
    assert mpirun.run("-n", 1, "sh", "-c",
                      '"$0" & until grep -q "^State:.Z" /proc/$!/status; do sleep 0.01; done; echo $! > pid',
                      program) == (0, "", "")
    assert time.monotonic() - began < mpirun.soon_s
    pid = (mpirun.folder / "pid").read_text().strip()
    assert not mpirun.alive() and not pathlib.Path(f"/proc/{pid}").exists()


def test_launcher_killed(mpirun):
    process = mpirun.start("-n", 2, "sh", "-c", FAMILY + "exec sleep 1000")
    ready(mpirun, process, 2)
    assert len(mpirun.alive()) > 10
    process.kill()
    mpirun.expect_nothing_left()
    process.communicate(timeout=60)


@pytest.mark.parametrize("victim", ["launcher", "guard"])
def test_killed_at_any_moment_of_the_start(mpirun, victim):
    seed = int(os.environ.get("LANYARD_TEST_SEED", "1"))
    print("LANYARD_TEST_SEED =", seed)
    moment = random.Random(seed)
    for _ in range(40):
        process = mpirun.start("-n", 4, "sh", "-c", FAMILY + "exec sleep 1000")
        time.sleep(moment.random() * 0.03)
        try:
            os.kill(process.pid if victim == "launcher" else child_of(process.pid), signal.SIGKILL)
        except (OSError, IndexError):  # no guard yet
            process.kill()
        process.communicate(timeout=60)
        mpirun.expect_nothing_left(10)


def test_process_group_of_the_launcher_killed(mpirun):
    process = mpirun.start("-n", 2, "sh", "-c", FAMILY + "exec sleep 1000", start_new_session=True)
    ready(mpirun, process, 2)
    os.killpg(process.pid, signal.SIGKILL)
    mpirun.expect_nothing_left()
    process.communicate(timeout=60)


def test_guard_has_a_name_of_its_own(mpirun):
    """A command that kills all processes called mpirun must not kill the guard. The guard then ends the
    job."""
    process = mpirun.start("-n", 1, "sh", "-c", "echo ready; exec sleep 1000")
    ready(mpirun, process, 1)
    guard = child_of(process.pid)
    assert pathlib.Path(f"/proc/{guard}/comm").read_text() == "lanyard-guard\n"
    assert b"mpirun" not in pathlib.Path(f"/proc/{guard}/cmdline").read_bytes()
    process.terminate()
    assert finish(process)[0] == 143


def child_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def test_guard_killed(mpirun):
    process = mpirun.start("-n", 2, "sh", "-c", FAMILY + "exec sleep 1000")
    ready(mpirun, process, 2)
    os.kill(child_of(process.pid), signal.SIGKILL)
    code, err = finish(process)
    assert code == 137
    assert "the process that guards the ranks (lanyard-guard) was killed" in err
    mpirun.expect_nothing_left()


def test_nested_launcher_killed_with_its_job(mpirun):
    process = mpirun.start("-n", 1, mpirun.path, "-n", 2, "sh", "-c", FAMILY + "exec sleep 1000")
    ready(mpirun, process, 2)
    process.kill()
    mpirun.expect_nothing_left()
    process.communicate(timeout=60)


TRAPS = """
import os, signal, sys, time
def caught(number, frame):  # maybe inside the print below, which must not be entered again
    os.write(1, b"caught %s\\n" % signal.Signals(number).name.encode())
    if number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): sys.exit(0)
for name in ("HUP", "INT", "TERM", "USR1", "USR2", "ALRM", "WINCH", "CONT", "TSTP"):
    signal.signal(getattr(signal, "SIG" + name), caught)
print("ready", flush=True)
# A signal just before a sleep does not end the sleep, and its Python function runs only after the sleep.
while True: time.sleep(0.05)
"""


@pytest.mark.parametrize("name", ["HUP", "INT", "TERM"])
def test_signals_that_end_are_forwarded(mpirun, name):
    process = mpirun.start("-n", 3, *mpirun.python(TRAPS))
    ready(mpirun, process, 3)
    process.send_signal(getattr(signal, "SIG" + name))
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out.decode(), err) == (0, f"caught SIG{name}\n" * 3, b"")


@pytest.mark.parametrize("name", ["USR1", "USR2", "ALRM", "WINCH", "CONT"])
def test_other_signals_are_forwarded(mpirun, name):
    process = mpirun.start("-n", 3, *mpirun.python(TRAPS))
    ready(mpirun, process, 3)
    process.send_signal(getattr(signal, "SIG" + name))
    mpirun.read_until(process.stdout, lambda text: text.decode() == f"caught SIG{name}\n" * 3)
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == 0


@pytest.mark.parametrize("name", ["HUP", "INT", "TERM", "USR1"])
def test_ranks_that_die_of_a_forwarded_signal(mpirun, name):
    """The user has sent the signal, so the exit code must show it, and nothing must be printed."""
    number = getattr(signal, "SIG" + name)
    process = mpirun.start("-n", 2, "sh", "-c", "echo ready; exec sleep 1000")
    ready(mpirun, process, 2)
    process.send_signal(number)
    assert finish(process) == (128 + number, "")


def test_second_interrupt_ends_a_job_that_ignores_the_first(mpirun):
    process = mpirun.start("-n", 2, "sh", "-c", "trap '' INT; echo ready; exec sleep 1000")
    ready(mpirun, process, 2)
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert finish(process) == (130, "")


def test_two_different_signals_end_with_the_code_of_the_first(mpirun):
    process = mpirun.start("-n", 2, "sh", "-c", "trap '' TERM; echo ready; exec sleep 1000")
    ready(mpirun, process, 2)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert finish(process) == (143, "")


def test_ignored_hangup_stays_ignored(mpirun):
    process = mpirun.start("-n", 2, "sh", "-c", "echo ready; exec sleep 1000",
                           preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    ready(mpirun, process, 2)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.2)
    assert process.poll() is None
    process.terminate()
    assert finish(process)[0] == 143


def test_parent_that_ignores_its_children(mpirun):
    """mpirun is started with SIGCHLD ignored. If mpirun left this as it is, the kernel would discard the exit
    codes of its children."""
    def ignore():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    assert mpirun.run("-n", 2, "true", preexec_fn=ignore) == (0, "", "")
    code, _, err = mpirun.run("-n", 2, "sh", "-c", "exit $((6 + PMI_RANK))", preexec_fn=ignore)
    assert code in (6, 7) and f"ended with exit code {code}" in err


def states(mpirun):
    found = []
    for pid, command in mpirun.alive().items():
        if command.startswith("sleep"):
            found.append(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0])
    return found


def test_suspending_and_resuming(mpirun):
    process = mpirun.start("-n", 2, "sleep", "1000")
    mpirun.wait_until(lambda: states(mpirun) == ["S", "S"], "the ranks run")
    process.send_signal(signal.SIGTSTP)
    mpirun.wait_until(lambda: states(mpirun) == ["T", "T"], "the ranks are stopped")
    mpirun.wait_until(lambda: os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT),
                      "mpirun is stopped")
    process.send_signal(signal.SIGCONT)
    mpirun.wait_until(lambda: states(mpirun) == ["S", "S"], "the ranks go on")
    process.terminate()
    assert finish(process)[0] == 143


def test_time_limit(mpirun):
    began = time.monotonic()
    code, out, err = mpirun.run("--timeout", "0.5", "-n", 2, "sleep", "1000")
    assert (code, out) == (124, "")
    assert 0.5 <= time.monotonic() - began < mpirun.soon_s
    assert err.startswith(
        "mpirun: the job has run for the 0.5 s of --timeout and is ended; what the ranks are waiting for:\n")
    assert err.endswith("  nothing is known of the 2 ranks: none has called MPI_Init\n")


def test_time_limit_of_a_single_rank(mpirun):
    code, _, err = mpirun.run("--timeout", "0.3", "sleep", "1000")
    assert code == 124
    assert err.endswith("  nothing is known of rank 0: it has not called MPI_Init\n")


def test_time_limit_from_the_environment(mpirun):
    assert mpirun.run("-n", 2, "sleep", "1000", env={"MPIEXEC_TIMEOUT": "0.3"})[0] == 124
    assert mpirun.run("--timeout", "50", "sleep", "0.5", env={"MPIEXEC_TIMEOUT": "0.1"})[0] == 0


def test_time_limit_not_reached(mpirun):
    assert mpirun.run("--timeout", "50", "-n", 2, "true") == (0, "", "")


def test_quit_reports_and_leaves_the_ranks_running(mpirun):
    process = mpirun.start("-n", 2, "sh", "-c", "echo ready; read line; echo $line; exit 0",
                           stdin=subprocess.PIPE)
    ready(mpirun, process, 2)
    process.send_signal(signal.SIGQUIT)
    text = mpirun.read_until(process.stderr, lambda text: text.count(b"\n") == 2)
    assert text.startswith(b"mpirun: what the ranks are waiting for:\n  nothing is known of the 2 ranks")
    assert process.poll() is None
    out, err = process.communicate(b"still here\n", timeout=60)
    assert (process.returncode, b"still here" in out, err) == (0, True, b"")


def memory_group():
    """A new memory control group with a limit of 80 MiB, version 1 or 2, or None if none can be created."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            base, limit = pathlib.Path(f"/sys/fs/cgroup/memory{path}"), "memory.limit_in_bytes"
        elif not controllers:
            base, limit = pathlib.Path(f"/sys/fs/cgroup{path}"), "memory.max"
        else:
            continue
        folder = base / f"launch-test-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            if not (folder / limit).exists():
                raise OSError("the folder is no control group with a limit of memory")
            (folder / limit).write_text(str(80 << 20))
            return folder
        except OSError:
            folder.rmdir()
    return None


def test_out_of_memory_is_named(mpirun):
    group = memory_group()
    if group is None:
        pytest.skip("no memory control group can be made here (not root, or the controller is not delegated)")
    try:
        eat = "import os, time\nif os.environ['PMI_RANK'] == '1': hog = b'x' * (400 << 20)\ntime.sleep(1000)"
        swap_off = group / "memory.swap.max"
        if swap_off.exists():
            swap_off.write_text("0")
        code, _, err = mpirun.run("-n", 2, *mpirun.python(eat),
                                  preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
        assert code == 137
        assert "rank 1 (" in err and "was killed by signal 9" in err and "out of memory" in err
    finally:
        mpirun.expect_nothing_left()
        mpirun.wait_until(lambda: not (group / "cgroup.procs").read_text(), "the group is empty")
        group.rmdir()
