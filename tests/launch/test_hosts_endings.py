"""Tests how jobs on several hosts end: exit codes, signals, processes that die or stop answering, and faults
of a host. The fixture `mpirun` (conftest.py) checks after every test that nothing is left on any host."""
import os
import pathlib
import re
import signal
import time

import pytest


def ready(mpirun, process, lines):
    mpirun.read_until(process.stdout, lambda text: text.count(b"ready\n") >= lines)


def finish(process):
    out, err = process.communicate(timeout=60)
    return process.returncode, out.decode(), err.decode()


def test_exit_code_and_place_of_the_first_that_fails(mpirun, hosts):
    began = time.monotonic()
    code, out, err = hosts("a,b,c", "-n", 3, "sh", "-c", "test $PMI_RANK = 2 && exit 17; exec sleep 1000")
    assert (code, out) == (17, "")
    assert re.fullmatch(r"mpirun: rank 2 \(sh, process \d+ on c\) ended with exit code 17\n", err)
    assert time.monotonic() - began < mpirun.soon_s


def test_rank_that_is_killed(mpirun, hosts):
    process = hosts.start("a,b,c", "--fan-out", 1, "-n", 3, "sh", "-c",
                          "echo $$ > pid.$PMI_RANK; echo ready; exec sleep 1000")
    ready(mpirun, process, 3)
    began = time.monotonic()
    os.kill(int((mpirun.folder / "pid.2").read_text()), signal.SIGKILL)
    code, _, err = finish(process)
    assert time.monotonic() - began < mpirun.soon_s
    assert code == 137
    assert re.fullmatch(
        r"mpirun: rank 2 \(sh, process \d+ on c\) was killed by signal 9 \(SIGKILL: Killed\)\n", err)


def test_message_comes_after_what_the_rank_said_last(hosts):
    for _ in range(5):
        code, _, err = hosts("a,b", "-n", 2, "sh", "-c",
                             'test $PMI_RANK = 1 && { echo "my own words" >&2; exit 5; }; exec sleep 60')
        assert code == 5
        assert err.splitlines()[0] == "my own words" and "ended with exit code 5" in err.splitlines()[1]


def test_what_ranks_leave_behind_is_ended(mpirun, hosts):
    assert hosts("a,b", "-n", 2, "sh", "-c",
                 "setsid sh -c 'sleep 1000 & sleep 1000' & (setsid sleep 1000 &) ; echo x") == (
                     0, "x\nx\n", "")
    mpirun.expect_nothing_left()


def test_signals_are_passed_on(mpirun, hosts):
    wait = ("import signal; usr1 = {signal.SIGUSR1}; signal.pthread_sigmask(signal.SIG_BLOCK, usr1); "
            "print('ready', flush=True); signal.sigwait(usr1)")
    process = hosts.start("a,b", "--fan-out", 1, "-n", 2, *mpirun.python(wait + "; print('got USR1')"))
    ready(mpirun, process, 2)
    process.send_signal(signal.SIGUSR1)
    assert finish(process) == (0, "got USR1\n" * 2, "")


def test_one_interrupt_is_enough_before_the_ranks_have_started(mpirun, hosts):
    process = hosts.start("a,silent", "-n", 2, "touch", "started")
    mpirun.wait_until(lambda: mpirun.agents(), "the other host is ready")
    process.send_signal(signal.SIGINT)
    assert finish(process) == (130, "", "")
    assert not (mpirun.folder / "started").exists()


def test_second_interrupt_ends_what_ignores_the_first(mpirun, hosts):
    process = hosts.start("a,b", "-n", 2, "sh", "-c",
                          "trap '' INT TERM; echo ready; while :; do sleep 0.1; done")
    ready(mpirun, process, 2)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert finish(process) == (130, "", "")


def test_suspended_job_is_not_taken_for_lost(mpirun, hosts):
    process = hosts.start("a", "-n", 1, "sh", "-c", "echo ready; sleep 0.2; echo done",
                          env={"LANYARD_PEER_TIMEOUT": 3})
    ready(mpirun, process, 1)
    process.send_signal(signal.SIGTSTP)
    time.sleep(4)
    process.send_signal(signal.SIGCONT)
    assert finish(process) == (0, "done\n", "")


def test_quiet_hosts_with_short_patience_are_not_lost(hosts):
    assert hosts("a,b", "--fan-out", 1, "-n", 2, "sleep", "5", env={"LANYARD_PEER_TIMEOUT": 3}) == (0, "", "")


def test_mpirun_killed(mpirun, hosts):
    process = hosts.start("a,b,c,d", "--fan-out", 2, "-n", 8, "sh", "-c",
                          "setsid sleep 1000 & trap '' TERM HUP; echo ready; exec sleep 1000")
    ready(mpirun, process, 8)
    process.kill()
    mpirun.expect_nothing_left()
    process.communicate(timeout=60)


@pytest.mark.parametrize("host", ["a", "b", "c"])
def test_agent_killed(mpirun, hosts, host):
    process = hosts.start("a,b,c", "--fan-out", 1, "-n", 6, "sh", "-c",
                          "setsid sleep 1000 & echo ready; exec sleep 1000")
    ready(mpirun, process, 6)
    known = {"a": "ranks 0 and 3, and 2 hosts more that it started",
             "b": "ranks 1 and 4, and a host more that it started", "c": "ranks 2 and 5"}[host]
    began = time.monotonic()
    os.kill(mpirun.agent_of(host), signal.SIGKILL)
    code, _, err = finish(process)
    assert time.monotonic() - began < mpirun.soon_s
    assert code == 1 and err.count("\n") == 1
    assert err.startswith(f"mpirun: host {host} ({known}) is lost: the connection was closed")
    mpirun.expect_nothing_left()


def test_remote_shell_killed(mpirun, hosts):
    process = hosts.start("a,b", "-n", 2, "sh", "-c", "echo ready; exec sleep 1000")
    ready(mpirun, process, 2)
    shell = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[1])
    began = time.monotonic()
    os.kill(shell, signal.SIGKILL)
    code, _, err = finish(process)
    assert time.monotonic() - began < mpirun.soon_s
    assert code == 1 and "mpirun: host b (rank 1) is lost: its remote shell has ended" in err
    mpirun.expect_nothing_left()


@pytest.mark.parametrize("victim", ["mpirun", "agent"])
def test_killed_at_any_moment_of_the_start(mpirun, hosts, victim):
    for step in range(15):
        process = hosts.start("a,b,c", "--fan-out", 1, "-n", 6, "sh", "-c",
                              "setsid sleep 1000 & exec sleep 1000")
        time.sleep(0.005 * step)
        for pid in mpirun.agents()[-1:] if victim == "agent" else [process.pid]:
            os.kill(pid, signal.SIGKILL)
        process.send_signal(signal.SIGKILL if victim == "mpirun" else signal.SIGTERM)
        process.communicate(timeout=60)
        mpirun.expect_nothing_left()


def test_guard_killed(mpirun, hosts):
    process = hosts.start("a,b", "-n", 2, "sh", "-c", "echo ready; exec sleep 1000")
    ready(mpirun, process, 2)
    agent = mpirun.agent_of("b")
    os.kill(int(pathlib.Path(f"/proc/{agent}/task/{agent}/children").read_text().split()[0]), signal.SIGKILL)
    code, _, err = finish(process)
    assert code == 137
    assert err == ("mpirun: the process that guards the ranks on b (lanyard-guard) was killed, and the job "
                   "with it\n")


def test_guard_of_mpiruns_own_host_killed(mpirun, hosts):
    """The ranks of the other host must end as at any other failure, with SIGTERM, before mpirun ends."""
    own = os.uname().nodename
    process = hosts.start(f"{own},b", "-n", 2, "sh", "-c",
                          "trap 'echo $PMI_RANK > ended; exit 0' TERM; echo ready; "
                          "{ while :; do sleep 0.05; done; } 2> /dev/null")  # sh reports that sleep was ended
    ready(mpirun, process, 2)
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    guard = next(pid for pid in children
                 if pathlib.Path(f"/proc/{pid}/comm").read_text() == "lanyard-guard\n")
    os.kill(int(guard), signal.SIGKILL)
    code, _, err = finish(process)
    assert not mpirun.alive()
    assert (code, err) == (137, f"mpirun: the process that guards the ranks on {own} (lanyard-guard) was "
                                "killed, and the job with it\n")
    assert (mpirun.folder / "ended").read_text() == "1\n"


@pytest.mark.parametrize("fan_out", [2, 1])
def test_silent_host_is_lost_only_after_the_time_that_is_set(mpirun, hosts, fan_out):
    process = hosts.start("a,b", "--fan-out", fan_out, "-n", 2, "sh", "-c", "echo ready; exec sleep 1000",
                          env={"LANYARD_PEER_TIMEOUT": 4})
    ready(mpirun, process, 2)
    stopped = mpirun.agent_of("b")
    began = time.monotonic()
    os.kill(stopped, signal.SIGSTOP)
    code, _, err = finish(process)
    assert 3.5 < time.monotonic() - began < mpirun.soon_s
    assert (code, err) == (
        1, "mpirun: host b (rank 1) is lost: nothing has been heard of it for 4 s (LANYARD_PEER_TIMEOUT)\n")
    os.kill(stopped, signal.SIGCONT)
    mpirun.expect_nothing_left()


def test_host_that_does_not_confirm_the_end_does_not_keep_mpirun(mpirun, hosts):
    process = hosts.start("a,b", "-n", 2, "sh", "-c", "echo ready; exec sleep 1000")
    ready(mpirun, process, 2)
    stopped = mpirun.agent_of("b")
    os.kill(stopped, signal.SIGSTOP)
    process.send_signal(signal.SIGTERM)
    code, _, err = finish(process)
    assert (code, err) == (143,
                           "mpirun: host b has not confirmed that the job's processes there have ended; they "
                           "end when they miss mpirun\n")
    os.kill(stopped, signal.SIGCONT)
    mpirun.expect_nothing_left()


# Faults of a host.

@pytest.mark.parametrize(("host", "words"), [
    ("refusing",
     "host refusing refuses the login ({shell} said \"someone@refusing: Permission denied "
     "(publickey,password).\"); make a key"),
    ("unreachable",
     "host unreachable cannot be reached ({shell} said \"ssh: connect to host unreachable port 22: No route "
     "to host\")"),
    ("unknown", "host unknown is not known by that name"),
    ("asking",
     "host asking: {shell} asks for what nobody can type here (it said \"someone@asking's password:\"); make "
     "a key"),
    ("old", "host old has Lanyard 0.0.9, here it is 0."),
])
@pytest.mark.parametrize("fan_out", [16, 1])
def test_bad_hosts_are_named(mpirun, hosts, host, words, fan_out):
    began = time.monotonic()
    code, out, err = hosts(f"a,{host},b", "--fan-out", fan_out, "-n", 3, "touch", "started")
    assert (code, out) == (1, "")
    assert err.startswith("mpirun: " + words.format(shell=mpirun.remote_shell)) and err.count("\n") == 1
    assert time.monotonic() - began < mpirun.soon_s
    assert not (mpirun.folder / "started").exists()


def test_host_that_never_speaks(mpirun, hosts):
    began = time.monotonic()
    code, _, err = hosts("a,silent", "-n", 2, "true", env={"LANYARD_PEER_TIMEOUT": 1})
    assert code == 1 and time.monotonic() - began < mpirun.soon_s
    assert err.startswith(f"mpirun: host silent: Lanyard's agent did not start: {mpirun.remote_shell} does "
                          "not answer, and it said nothing")


def test_chatty_logins_do_not_disturb(hosts):
    assert hosts("chatty,a", "--fan-out", 1, "-n", 2, "echo", "x") == (0, "x\nx\n", "")


def test_missing_installation(hosts):
    code, _, err = hosts("a,b", "--prefix", "/not there", "-n", 2, "true")
    assert code == 1
    assert re.match(r'mpirun: host [ab] has no /not there/bin/mpirun \(it said ".*not found"\); install '
                    r'Lanyard there', err) and err.count("\n") == 1


def test_program_missing_on_one_host_starts_nothing(mpirun, hosts):
    code, out, err = hosts("a,b", "-n", 1, "touch", "started", ":", "-n", 1, "./absent")
    assert (code, out) == (127, "")
    assert err == ("mpirun: rank 1 on b: the program ./absent cannot be started: No such file or directory "
                   f"in {mpirun.folder}\n")
    assert not (mpirun.folder / "started").exists()


def test_missing_folder(mpirun, hosts):
    (mpirun.folder / "sub").mkdir()
    code, _, err = hosts("vanishing", "true", cwd=mpirun.folder / "sub")
    assert code == 2
    assert err == f"mpirun: host vanishing: the folder {mpirun.folder}/sub, in which mpirun was started, " \
                  "cannot be entered there: " \
                  "No such file or directory; make it there, or name another with -wdir\n"
    assert hosts("a,b", "-n", 2, "-wdir", "absent", "true")[2] in [
        f"mpirun: rank {rank} on {host}: -wdir absent: No such file or directory\n"
        for rank, host in enumerate("ab")]


def test_missing_remote_shell(mpirun):
    code, _, err = mpirun.run("--ssh", "no-such-shell -p 22", "--host", "a", "true",
                              env={"PATH": "/usr/bin:/bin"})
    assert code == 127
    assert err == ("mpirun: host a cannot be started: the program no-such-shell was not found in the folders "
                   "of PATH; --ssh names it\n")


def test_agent_is_not_for_people(mpirun):
    code, out, err = mpirun.run("--agent")
    assert code == 1
    code, out, err = mpirun.run("--agent", input="good morning\n")
    assert code == 0 and out.startswith("\nlanyard-agent ")
