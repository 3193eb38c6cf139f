"""Runs commands of iproute2, nftables and ethtool in the namespaces of a lab, and checks whether they are
installed.

A command that fails raises LabError with its words and its output. Only other modules of the lab use this
module, from any thread.
"""
import functools
import os
import shutil
import subprocess
import sys

PACKAGES = {"ip": "iproute2", "tc": "iproute2", "ss": "iproute2", "nft": "nftables", "ethtool": "ethtool",
            "unshare": "util-linux"}
NAMESPACES = "/run/netns"
CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}


class LabError(Exception):
    """An error message: what went wrong, where, and what to do."""


def call(words, text=None, where=None):
    """Runs a command, in the namespace `where` if given, with `text` as its input. Returns its output."""
    words = [str(word) for word in words]
    if where:
        words = ["ip", "netns", "exec", where, *words]
    try:
        done = subprocess.run(words, input=text or "", capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        package = PACKAGES.get(words[0], "a package that holds it")
        raise LabError(f"the command '{words[0]}' is missing; install {package}") from error
    if done.returncode != 0:
        lines = f"; it was given:\n{text.strip()}" if text else ""
        raise LabError(f"'{' '.join(words)}' failed: "
                       f"{(done.stderr or done.stdout).strip() or f'exit code {done.returncode}'}{lines}")
    return done.stdout


def ip(where, *lines):
    """Runs lines of `ip` in a namespace, all in one process."""
    call(["ip", "-n", where, "-batch", "-"], "\n".join(lines) + "\n")


def tc(where, *lines):
    call(["tc", "-n", where, "-batch", "-"], "\n".join(lines) + "\n")


def nft(where, rules):
    call(["nft", "-f", "-"], rules, where)


def sysctl(where, **values):
    """Sets kernel settings of a namespace; their names have '__' in place of dots."""
    call(["sysctl", "-q", "-w", *(f"{name.replace('__', '.')}={value}" for name, value in values.items())],
         where=where)


def namespaces():
    """Names of all named network namespaces of the machine."""
    return sorted(os.listdir(NAMESPACES)) if os.path.isdir(NAMESPACES) else []


def processes_in(namespace):
    """The processes in a namespace, without this process and its ancestors."""
    own, process = set(), os.getpid()
    while process > 1:
        own.add(process)
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as stream:
            process = int(stream.read().rpartition(")")[2].split()[1])
    return [int(word) for word in call(["ip", "netns", "pids", namespace]).split() if int(word) not in own]


@functools.cache
def missing():
    """Why no lab can be made on this machine, as a sentence, or None if one can."""
    if sys.platform != "linux":
        return "network namespaces exist on Linux only"
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    if lacking := sorted({package for command, package in PACKAGES.items() if not shutil.which(command)}):
        return f"these packages are not installed: {', '.join(lacking)}"
    with open("/proc/self/status", encoding="utf-8") as stream:
        held = next(int(line.split()[1], 16) for line in stream if line.startswith("CapEff:"))
    if lacking := [name for name, bit in CAPABILITIES.items() if not held >> bit & 1]:
        return (f"root lacks {' and '.join(lacking)} here, as in a container, and cannot make network "
                "namespaces")
    if not os.path.exists("/etc/hosts"):
        return "there is no file /etc/hosts, in whose place the hosts of a lab see one of their own"
    return None
