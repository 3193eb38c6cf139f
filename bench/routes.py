"""Other ways for the messages than a library's own choice, and other settings of Lanyard; used by bench/compare and bench/run.

`tcp` forces every library to TCP on this machine's loopback, `tcp-1500` on that of one host of a lab (tests/lab), which has that MTU; a
rate such as `1gbit` runs rank 0 and rank 1 on two hosts of a lab, joined by a link of that rate. On all of them bare TCP runs beside as
one more library, NetPIPE's method: the loss is read off the picture; and the interface's counters prove the path (proof.py).
A sweep puts Lanyard with several values of one setting in the place of the libraries.
"""
import contextlib
import subprocess
import sys
from pathlib import Path

import proof
from peers import Library, Unavailable

REPOSITORY = Path(__file__).resolve().parent.parent
SSH = str(REPOSITORY / "tests" / "lab" / "ssh")
RAW_PATTERNS = ("latency", "bandwidth", "unidirectional", "overlap", "allreduce")
RAW_TREES = ("allreduce",)  # of these, among processes of one host


def changed(library, environment=None, launcher=None, key=None, title=None):
    other = Library(key or library.key, title or library.title, library.home, library.programs, launcher or library.launcher,
                    {**library.environment, **(environment or {})})
    other.counted = library.counted
    return other


def counted_by(libraries, count):
    """The libraries, each with `count` as what proves their path (proof.py)."""
    for library in libraries.values():
        library.counted = count
    return libraries


class RawTcp(Library):
    """bench-tcp in the place of a library; `elsewhere` are the options that lead it to another host."""

    def __init__(self, programs, enter=(), elsewhere=()):
        super().__init__("tcp", "raw TCP", programs, programs, None, {})
        self.enter = enter
        self.elsewhere = elsewhere

    def command(self, ranks, program, arguments=()):
        where = ["--ranks", str(ranks)] if program in RAW_TREES else self.elsewhere
        return [*self.enter, str(self.programs / "bench-tcp"), program, *arguments, *where]


def has_raw(program, arguments):
    """Whether bench-tcp has this program's pattern, with these arguments."""
    words = ",".join(map(str, arguments)).split(",")
    return program in RAW_PATTERNS and not {"--beside", "allreduce", "expected", "unexpected"} & set(words)


def tcp_environment(library):
    """What forces a library to TCP sockets. Intel MPI's package has no libfabric; it takes the one in MPICH's."""
    libfabric = library.home.parent / "mpich" / "lib" / "mpich" / "libfabric.so.1"
    return {
        "lanyard": {"LANYARD_PATHS": "self,tcp"},
        "mpich": {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"},
        "impi": {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp", "I_MPI_OFI_LIBRARY": str(libfabric)},
        "openmpi": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp"},
    }[library.key.partition("-")[0]]  # 'impi-wait' is impi


def with_raw(libraries, program, arguments, **elsewhere):
    if not has_raw(program, arguments) or (elsewhere and program in RAW_TREES):
        return libraries
    return {**libraries, "tcp": RawTcp(next(iter(libraries.values())).programs, **elsewhere)}


def over_tcp(libraries, program, arguments):
    moved = with_raw({key: changed(library, tcp_environment(library)) for key, library in libraries.items()}, program, arguments)
    return counted_by(moved, lambda: proof.bytes_of_interface("lo"))


def lab_launcher(library, ranks):
    """How a library's launcher starts ranks on h1 and h2 by the lab's stand-in for ssh. Nothing is bound: the hosts of a lab share
    processors, and each rank would be given the first."""
    command = library.launcher(ranks)[0]
    each = (ranks + 1) // 2
    hosts = f"h1:{each},h2:{each}"
    options = {
        "lanyard": ["--ssh", SSH, "--host", hosts],
        "mpich": ["-launcher", "ssh", "-launcher-exec", SSH, "-hosts", "h1,h2", "-ppn", str(each)],
        "impi": ["-bootstrap", "ssh", "-bootstrap-exec", SSH, "-hosts", "h1,h2", "-ppn", str(each), "-genv", "I_MPI_PIN", "off"],
        "openmpi": ["--mca", "plm_rsh_agent", SSH, "--mca", "btl_tcp_if_include", "rail1", "--bind-to", "none", "--host", hosts],
    }[library.key.partition("-")[0]]
    return [command, *options, "-n", str(ranks)]


def in_lab(libraries, lab, program, arguments):
    def moved(library):
        return changed(library, {**tcp_environment(library), "LANYARD_LAB": lab.name},
                       lambda ranks: lab.command("h1", lab_launcher(library, ranks)))
    raw = with_raw({key: moved(library) for key, library in libraries.items()}, program, arguments,
                   enter=lab.command("h1", []), elsewhere=["--address", lab.address("h2"), "--shell", f"{SSH} h2"])
    if "tcp" in raw:
        raw["tcp"].environment["LANYARD_LAB"] = lab.name
    return counted_by(raw, lambda: sum(lab.counters("h1")["rail1"][name] for name in ("sent_bytes", "received_bytes")))


def inside_host(libraries, lab, host):
    """The libraries and raw TCP as they are, but in a host of a lab."""
    def moved(library):
        enter = lab.command(host, [])
        if isinstance(library, RawTcp):
            return RawTcp(library.programs, enter=enter)
        return changed(library, launcher=lambda ranks: [*enter, *library.launcher(ranks)])
    return counted_by({key: moved(library) for key, library in libraries.items()}, lambda: lab.counters(host)["lo"]["sent_bytes"])


def make_lab(**wanted):
    sys.path.insert(0, str(REPOSITORY / "tests"))
    from lab import Lab, missing
    if reason := missing():
        raise Unavailable(f"there can be no lab here: {reason}")
    return Lab(**wanted)


def set_loopback_mtu(lab, host, mtu):
    command = ["ip", "-n", lab.namespace(host), "link", "set", "lo", "mtu", mtu]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"loopback cannot have an MTU of {mtu}: {done.stderr.strip()}")


@contextlib.contextmanager
def routed(libraries, route, program, arguments, sweep=None):
    """The libraries on a route: None for their own choice, 'tcp', 'tcp-MTU', or the rate of a lab's link such as '1gbit'. With a sweep, Lanyard
    stands there once for each value."""
    def in_variants(moved):
        if not sweep:
            return moved
        others = {key: library for key, library in moved.items() if key != "lanyard"}
        return {**swept(moved["lanyard"], sweep), **others}

    if route is None:
        yield in_variants(libraries)
    elif route == "tcp":
        yield in_variants(over_tcp(libraries, program, arguments))
    elif route.startswith("tcp-"):
        with make_lab(hosts=1) as lab:
            set_loopback_mtu(lab, "h1", route.removeprefix("tcp-"))
            yield in_variants(inside_host(over_tcp(libraries, program, arguments), lab, "h1"))
    else:
        with make_lab(hosts=2, rate=route) as lab:
            yield in_variants(in_lab(libraries, lab, program, arguments))


def known_sweeps(lanyard):
    """{setting: "ONE,TWO"} of the settings that are worth a sweep, as `lanyard bench` has them."""
    done = subprocess.run([lanyard.home / "bin" / "lanyard", "bench", "--sweep"], capture_output=True, text=True, check=True)
    return dict(line.split("=") for line in done.stdout.splitlines())


def swept(lanyard, text):
    """Lanyard once for each value of a setting: 'eager-limit', or 'eager-limit=0,512' with values of one's own; of several settings that are
    joined by '+' once for each of their combinations."""
    libraries = {lanyard.key: lanyard}
    for part in text.split("+"):
        libraries = {key: library for before in libraries.values() for key, library in swept_once(before, part, before is not lanyard).items()}
    return libraries


def swept_once(lanyard, text, joined):
    setting, _, values = text.partition("=")
    if not values:
        known = known_sweeps(lanyard)
        values = known.get(setting)
    if not values:
        raise Unavailable(f"which values of '{setting}'? Write {setting}=ONE,TWO; without values there are {', '.join(known)}")
    values = values.split(",")
    variable = "LANYARD_" + setting.upper().replace("-", "_")
    key, title = (lanyard.key + "+", lanyard.title) if joined else ("", "Lanyard")
    return {f"{key}{setting}={value}": changed(lanyard, {variable: value}, key=f"{key}{setting}={value}", title=f"{title}, {setting} {value}")
            for value in values}
