"""Tests that the lab's replacement for ssh (tests/lab/ssh) enters hosts as sshd would, accepts the options
that launchers pass, and can refuse a login."""
import os
import pathlib
import pwd
import pty
import signal
import subprocess
import time

import pytest

SSH = str(pathlib.Path(__file__).with_name("ssh"))


@pytest.fixture
def ssh(lab):
    """Returns a function that runs tests/lab/ssh in h1 and returns (exit code, output, errors)."""
    def run(*words, mode=None, **keywords):
        done = lab.run("h1", [SSH, *words],
                       env={"SECRET": "of the caller", **({"LANYARD_LAB_SSH": mode} if mode else {})},
                       timeout=60, **keywords)
        return done.returncode, done.stdout, done.stderr
    return run


def test_words_are_joined_and_given_to_a_shell(ssh):
    assert ssh("h2", "hostname;", "echo", "'a  b'", "$((1", "+", "1))") == (0, "h2\na  b 2\n", "")
    assert ssh("h2", "cat; echo bad >&2; exit 42", input="typed") == (42, "typed", "bad\n")
    assert ssh("h2", "kill -9 $$")[0] == 255
    assert ssh("h2", "no-such-program")[0] == 127


def test_the_environment_is_not_the_callers(ssh):
    code, out, _ = ssh("h2", "env; pwd")
    user = pwd.getpwuid(os.geteuid())
    lines = out.splitlines()
    names = {line.split("=")[0] for line in lines[:-1]}
    assert (code == 0 and {"HOME", "PATH", "USER", "SHELL"} <= names
            <= {"HOME", "PATH", "USER", "SHELL", "PWD", "_", "SHLVL"})
    assert lines[-1] == user.pw_dir


@pytest.mark.parametrize("options", [
    ["-x", "-q", "-T", "-n"], ["-o", "BatchMode=yes", "-oStrictHostKeyChecking=no"],
    ["-p", "2222", "-l", "root"], ["-p22", "-F", "/dev/null", "-i", "key"],
])
def test_launchers_options_are_taken(ssh, options):
    assert ssh(*options, "h2", "hostname") == (0, "h2\n", "")


def test_options_may_follow_the_host_but_not_the_command(ssh):
    assert ssh("h2", "-x", "-q", "echo", "-n", "x") == (0, "x", "")


def test_a_host_is_known_by_all_its_names(ssh, lab):
    for name in ("root@h3", "h3-rail2", lab.address("h3", 2)):
        assert ssh(name, "hostname") == (0, "h3\n", "")
    assert (ssh("h9", "hostname")
            == (255, "", "ssh: Could not resolve hostname h9: Name or service not known\n"))
    assert ssh()[0] == 255 and ssh("-Z", "h2")[0] == 255


def test_no_input_if_asked(ssh):
    assert ssh("-n", "h2", "cat", input="typed") == (0, "", "")


def test_one_host_reaches_the_next(ssh):
    """A launcher on one host starts launchers on further hosts. The second call of ssh must find its lab from
    its namespace alone."""
    assert ssh("h2", SSH, "h3", "'hostname; echo lab=$LANYARD_LAB'") == (0, "h3\nlab=\n", "")


def test_refused(ssh, lab):
    refused = (255, "", "root@h2: Permission denied (publickey).\n")
    assert ssh("h2", "hostname", mode="refuse") == refused
    assert (ssh("h2", "hostname", mode="unreachable")
            == (255, "", "ssh: connect to host h2 port 22: No route to host\n"))
    assert "can be normal, refuse" in ssh("h2", "hostname", mode="rude")[2]
    lab.set("h2", ssh="refuse")
    assert ssh("h2", "hostname") == refused and ssh("h3", "hostname")[0] == 0
    lab.set("h2", ssh="normal")


def test_a_host_that_never_answers(lab):
    with lab.popen("h1", [SSH, "h2", "hostname"], env={"LANYARD_LAB_SSH": "hang"},
                   stdout=subprocess.PIPE) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.7)
        process.terminate()
        assert process.communicate()[0] == b"" and process.returncode == -signal.SIGTERM


def test_a_password_is_asked_for_at_the_terminal(lab):
    own, terminal = pty.openpty()
    with lab.popen("h1", ["setsid", "--ctty", SSH, "h2", "hostname"], env={"LANYARD_LAB_SSH": "ask"},
                   stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        os.close(terminal)
        assert os.read(own, 100) == b"root@h2's password: "
        assert process.poll() is None
        os.write(own, b"wrong\n")
        assert process.communicate(timeout=60) == ("", "root@h2: Permission denied (publickey,password).\n")
        assert process.returncode == 255
    os.close(own)


def test_ctrl_c_stays_with_the_caller(lab, tmp_path):
    """Ctrl-C at the caller must not reach the remote side, which has a separate session, as with sshd. The
    remote side ends by itself, or when the lab ends."""
    done = tmp_path / "done"
    with lab.popen("h1", [SSH, "h2", f"echo ready; sleep 0.5; touch {done}; cat"], stdin=subprocess.PIPE,
                   stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout.readline().strip() in (b"ready", "ready")
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=60) in (255, -signal.SIGINT)
        while not done.exists():
            time.sleep(0.01)
