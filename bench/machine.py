"""Describes the machine on which figures were taken. No figure is meaningful without this description."""
import os
import platform
import time
from pathlib import Path


def first_match(path, name):
    try:
        for line in Path(path).read_text().splitlines():
            if line.split(":")[0].strip() == name:
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return ""


def processor_model():
    return first_match("/proc/cpuinfo", "model name") or platform.machine()


def quota():
    try:
        words = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return ("" if words[0] == "max" else
                f", limited to {int(words[0]) / int(words[1]):.1f} processors by its cgroup")
    except (OSError, ValueError, IndexError):
        return ""


def system():
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return "Linux"


def facts():
    """Returns the facts of describe() without the time, for the files of bench/results (record.py)."""
    memory_kib = first_match("/proc/meminfo", "MemTotal").split()
    return {"processor": processor_model(), "processors": len(os.sched_getaffinity(0)),
            "virtual": "hypervisor" in first_match("/proc/cpuinfo", "flags").split(),
            **({"quota": quota().removeprefix(", ")} if quota() else {}),
            "memory_gib": round(int(memory_kib[0]) / 2**20), "system": system(), "kernel": platform.release()}


def describe():
    known = facts()
    return (f"{known['processors']} processors, {known['processor']}"
            f"{', virtual machine' if known['virtual'] else ''}{quota()}; "
            f"{known['memory_gib']} GiB; {known['system']}, kernel {known['kernel']}; "
            f"{time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}")
