"""A few lines that say on what machine figures were taken; every figure is worth only as much as these."""
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
        return "" if words[0] == "max" else f", limited to {int(words[0]) / int(words[1]):.1f} processors by its cgroup"
    except (OSError, ValueError, IndexError):
        return ""


def describe():
    memory_kib = first_match("/proc/meminfo", "MemTotal").split()
    system = ""
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        pass
    virtual = ", virtual machine" if "hypervisor" in first_match("/proc/cpuinfo", "flags").split() else ""
    return (f"{len(os.sched_getaffinity(0))} processors, {processor_model()}{virtual}{quota()}; "
            f"{int(memory_kib[0]) / 2**20:.0f} GiB; {system or 'Linux'}, kernel {platform.release()}; "
            f"{time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}")
