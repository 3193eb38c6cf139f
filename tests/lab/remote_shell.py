"""Implements `tests/lab/ssh`, which enters a host of the lab and runs words there as sshd does.

    ssh [OPTION...] [USER@]HOST [WORD...]

LANYARD_LAB names the lab. If it is not set, the lab is that in which this process runs, so that one host
reaches the next. The words are joined by spaces and passed to /bin/sh -c in a separate session, in the home
folder, with an environment that contains nothing of the caller's. The exit code is that of the command, or
255 if it was killed or never ran. LANYARD_LAB_SSH, or `lab set --ssh` for a host, selects one of MODES, in
which it fails as a remote shell may fail.
"""
import getopt
import os
import pwd
import signal
import subprocess
import sys

from .network import Lab
from .system import LabError

MODES = ("normal", "refuse", "ask", "hang", "unreachable")
# OpenSSH's options; a colon follows those that take a value. Only -n has an effect here.
OPTIONS = "46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:"
FAILED = 255


def current_lab():
    """Returns NAME if this process runs in a namespace such as 'NAME-h2', otherwise ''."""
    done = subprocess.run(["ip", "netns", "identify"], capture_output=True, text=True, check=False)
    return done.stdout.strip().rpartition("-")[0]


def find_host(lab, name):
    """The host with this name or address, or None."""
    for host in lab.hosts:
        if name in (host, *lab.addresses(host), *(f"{host}-rail{rail}" for rail in lab.rails)):
            return host
    return None


def environment():
    user = pwd.getpwuid(os.geteuid())
    system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {"HOME": user.pw_dir, "PATH": system, "USER": user.pw_name, "SHELL": user.pw_shell or "/bin/sh"}


def misbehave(mode, name):
    """Answers as a host that does not let the caller in. Returns the exit code, except in the mode "hang"."""
    if mode == "hang":
        while True:
            signal.pause()
    if mode == "ask":
        try:
            with open("/dev/tty", "r+b", buffering=0) as terminal:
                terminal.write(f"root@{name}'s password: ".encode())
                terminal.readline()
        except OSError:
            pass  # without a terminal, ssh cannot ask for a password
    if mode == "unreachable":
        print(f"ssh: connect to host {name} port 22: No route to host", file=sys.stderr)
    else:
        print(f"root@{name}: Permission denied (publickey{',password' if mode == 'ask' else ''}).",
              file=sys.stderr)
    return FAILED


def enter(lab, host, words, without_input):
    values = environment()
    script = " ".join(words) or "exec /bin/sh"
    # The environment is set inside the host. Outside it, `ip` and `unshare` must be found by the caller's
    # PATH, which the command must not get.
    clean = ["env", "-i", "-C", values["HOME"], *(f"{name}={value}" for name, value in values.items()),
             "/bin/sh", "-c", script]
    # In a separate session, the remote side gets no signals of the caller's terminal, such as Ctrl-C.
    process = subprocess.Popen(lab.command(host, clean), stdin=subprocess.DEVNULL if without_input else None,
                               start_new_session=True)
    while True:
        try:
            code = process.wait()
            return code if code >= 0 else FAILED
        except KeyboardInterrupt:
            return FAILED


def main(words):
    try:
        given, rest = getopt.getopt(words, OPTIONS)
        if not rest:
            raise LabError("usage: ssh [OPTION...] HOST [WORD...]")
        name = rest[0].rpartition("@")[2]
        more, command = getopt.getopt(rest[1:], OPTIONS)  # ssh accepts options after the host too
        lab_name = os.environ.get("LANYARD_LAB") or current_lab()
        if not lab_name:
            raise LabError(f"which lab is {name} in? Set LANYARD_LAB, or call this from a host of the lab")
        lab = Lab.open(lab_name)
        host = find_host(lab, name)
        if host is None:
            raise LabError(f"Could not resolve hostname {name}: Name or service not known")
        mode = os.environ.get("LANYARD_LAB_SSH") or lab.ssh.get(host, "normal")
        if mode not in MODES:
            raise LabError(f"LANYARD_LAB_SSH is '{mode}'; it can be {', '.join(MODES)}")
        return (misbehave(mode, name) if mode != "normal"
                else enter(lab, host, command, ("-n", "") in given + more))
    except (LabError, getopt.GetoptError) as error:
        print(f"ssh: {error}", file=sys.stderr)
        return FAILED
