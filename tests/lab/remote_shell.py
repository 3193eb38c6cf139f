"""What `tests/lab/ssh` does: enters a host of the lab and runs words there as sshd does.

    ssh [OPTION...] [USER@]HOST [WORD...]

The lab is the one that LANYARD_LAB names, otherwise the one this process lives in (so that one host reaches the next). The words are
joined by spaces and given to /bin/sh -c in a session of their own, in the home folder, in an environment that has nothing of the
caller's. Exit code: that of the command, 255 if it was killed or never ran. LANYARD_LAB_SSH, or `lab set --ssh` for a host, makes
it behave badly: one of MODES.
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
# OpenSSH's options; those that take a value are followed by a colon. Only -n means something here.
OPTIONS = "46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:"
FAILED = 255


def current_lab():
    """Of 'NAME-h2', the namespace this process lives in, NAME."""
    done = subprocess.run(["ip", "netns", "identify"], capture_output=True, text=True, check=False)
    return done.stdout.strip().rpartition("-")[0]


def find_host(lab, name):
    """The host meant by a name or an address, or None."""
    for host in lab.hosts:
        if name in (host, *lab.addresses(host), *(f"{host}-rail{rail}" for rail in lab.rails)):
            return host
    return None


def environment():
    user = pwd.getpwuid(os.geteuid())
    system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {"HOME": user.pw_dir, "PATH": system, "USER": user.pw_name, "SHELL": user.pw_shell or "/bin/sh"}


def misbehave(mode, name):
    """Answers as a host does that does not let one in; returns the exit code, if it ever returns."""
    if mode == "hang":
        while True:
            signal.pause()
    if mode == "ask":
        try:
            with open("/dev/tty", "r+b", buffering=0) as terminal:
                terminal.write(f"root@{name}'s password: ".encode())
                terminal.readline()
        except OSError:
            pass  # without a terminal ssh has nobody to ask
    if mode == "unreachable":
        print(f"ssh: connect to host {name} port 22: No route to host", file=sys.stderr)
    else:
        print(f"root@{name}: Permission denied (publickey{',password' if mode == 'ask' else ''}).", file=sys.stderr)
    return FAILED


def enter(lab, host, words, without_input):
    values = environment()
    script = " ".join(words) or "exec /bin/sh"
    # The settings are made inside: `ip` and `unshare` must find themselves by the caller's PATH, and leave no trace in the environment.
    clean = ["env", "-i", "-C", values["HOME"], *(f"{name}={value}" for name, value in values.items()), "/bin/sh", "-c", script]
    # A session of its own: what the terminal sends to the caller, Ctrl-C above all, does not reach the remote side.
    process = subprocess.Popen(lab.command(host, clean), stdin=subprocess.DEVNULL if without_input else None, start_new_session=True)
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
        more, command = getopt.getopt(rest[1:], OPTIONS)  # ssh takes options after the host too
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
        return misbehave(mode, name) if mode != "normal" else enter(lab, host, command, ("-n", "") in given + more)
    except (LabError, getopt.GetoptError) as error:
        print(f"ssh: {error}", file=sys.stderr)
        return FAILED
