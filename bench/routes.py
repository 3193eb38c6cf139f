"""Defines routes (other paths than a library's own choice) and sweeps (other settings of Lanyard).

Used by bench/compare and bench/run.

`tcp` forces every library to TCP on the loopback of this machine. `tcp-1500` does so on the loopback of a
lab's host (tests/lab), with an MTU of 1500. A rate such as `1gbit` runs the ranks on two hosts of a lab that
are joined by a link of that rate. The names in LABS run the ranks in special labs. On all routes, bare TCP
runs as one more library, which is NetPIPE's method: the picture shows how much a library loses. The
interface's counters prove the path (proof.py). `dgram`, `dgram-1gbit` and so on use the same hosts, with
Lanyard on datagrams and, for comparison, on TCP.

A sweep replaces the libraries by Lanyard with several values of one setting.
"""
import contextlib
import subprocess
import sys
from pathlib import Path

import measure
import proof
from peers import Library, Unavailable

REPOSITORY = Path(__file__).resolve().parent.parent
SSH = str(REPOSITORY / "tests" / "lab" / "ssh")
RAW_PATTERNS = {"tcp": ("latency", "bandwidth", "unidirectional", "overlap", "allreduce"),
                "udp": ("latency",)}
RAW_TREES = ("allreduce",)  # patterns that run among processes of one host
LABS = {
    "lossy": {"hosts": 2, "rate": "1gbit"},  # h2's link can lose packets; TCP with each of CONGESTIONS
    "switch": {"hosts": 8, "rate": "1gbit", "queue": 128 << 10},  # queue: bytes at the port to each host
}
CONGESTIONS = ("cubic", "bbr")


def changed(library, environment=None, launcher=None, key=None, title=None):
    other = Library(key or library.key, title or library.title, library.home, library.programs,
                    launcher or library.launcher, {**library.environment, **(environment or {})})
    other.counted, other.prepare, other.lose = library.counted, library.prepare, library.lose
    return other


def counted_by(libraries, count):
    """Returns the libraries, each with `count` as the counter that proves its path (proof.py)."""
    for library in libraries.values():
        library.counted = count
    return libraries


class Raw(Library):
    """Runs bench-tcp or bench-udp instead of a library.

    `elsewhere` has the options by which the second process of the program runs on another host.
    """

    def __init__(self, transport, programs, enter=(), elsewhere=()):
        super().__init__(transport, f"raw {transport.upper()}", programs, programs, None, {})
        self.enter = enter
        self.elsewhere = elsewhere

    def command(self, ranks, program, arguments=()):
        where = ["--ranks", str(ranks)] if program in RAW_TREES else self.elsewhere
        return [*self.enter, str(self.programs / f"bench-{self.key}"), program, *arguments, *where]


def has_raw(transport, program, arguments):
    """Returns whether bench-tcp or bench-udp has the pattern of this program with these arguments."""
    words = ",".join(map(str, arguments)).split(",")
    return (program in RAW_PATTERNS[transport] and
            not {"--beside", "--percentile", "allreduce", "expected", "unexpected"} & set(words))


def tcp_environment(library):
    """Returns the settings that force a library to TCP.

    Intel MPI's package has no libfabric, so MPICH's is used.
    """
    libfabric = library.home.parent / "mpich" / "lib" / "mpich" / "libfabric.so.1"
    return {
        "lanyard": {"LANYARD_PATHS": "self,tcp"},
        "mpich": {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"},
        "impi": {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp", "I_MPI_OFI_LIBRARY": str(libfabric)},
        "openmpi": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp"},
    }[library.key.partition("-")[0]]  # 'impi-wait' is 'impi' with a setting


def forced(libraries, datagrams):
    """Returns the libraries, each forced to TCP.

    With `datagrams`, Lanyard uses datagrams, and a second Lanyard on TCP is added.
    """
    on_tcp = {key: changed(library, tcp_environment(library)) for key, library in libraries.items()}
    if not datagrams or "lanyard" not in libraries:
        return on_tcp
    ours = {"lanyard": changed(libraries["lanyard"], {"LANYARD_PATHS": "self,dgram"},
                               title="Lanyard, datagrams"),
            "lanyard-tcp": changed(on_tcp["lanyard"], key="lanyard-tcp", title="Lanyard, TCP")}
    return {**ours, **{key: library for key, library in on_tcp.items() if key != "lanyard"}}


def with_raw(libraries, program, arguments, datagrams=False, **elsewhere):
    transports = [transport for transport in ("tcp", *(["udp"] if datagrams else []))
                  if has_raw(transport, program, arguments)]
    if elsewhere and program in RAW_TREES:
        return libraries
    return {**libraries, **{transport: Raw(transport, next(iter(libraries.values())).programs, **elsewhere)
                            for transport in transports}}


def over_loopback(libraries, program, arguments, datagrams=False):
    moved = with_raw(forced(libraries, datagrams), program, arguments, datagrams)
    return counted_by(moved, lambda: proof.bytes_of_interface("lo"))


def lab_launcher(library, ranks, names=("h1", "h2")):
    """Returns the command by which a library's launcher starts ranks on these hosts.

    The launcher uses the lab's stand-in for ssh. Ranks are not bound: the hosts of a lab share processors, so
    every rank would be bound to the first processor.
    """
    command = library.launcher(ranks)[0]
    each = -(-ranks // len(names))
    hosts, slots = ",".join(names), ",".join(f"{name}:{each}" for name in names)
    options = {
        "lanyard": ["--ssh", SSH, "--host", slots],
        "mpich": ["-launcher", "ssh", "-launcher-exec", SSH, "-hosts", hosts, "-ppn", str(each)],
        "impi": ["-bootstrap", "ssh", "-bootstrap-exec", SSH, "-hosts", hosts, "-ppn", str(each),
                 "-genv", "I_MPI_PIN", "off"],
        "openmpi": ["--mca", "plm_rsh_agent", SSH, "--mca", "btl_tcp_if_include", "rail1",
                    "--bind-to", "none", "--host", slots],
    }[library.key.partition("-")[0]]
    return [command, *options, "-n", str(ranks)]


def in_lab(libraries, lab, program, arguments, datagrams=False):
    def moved(library):
        return changed(library, {"LANYARD_LAB": lab.name},
                       lambda ranks: lab.command("h1", lab_launcher(library, ranks, lab.hosts)))
    placed = with_raw({key: moved(library) for key, library in forced(libraries, datagrams).items()},
                      program, arguments, datagrams, enter=lab.command("h1", []),
                      elsewhere=["--address", lab.address("h2"), "--shell", f"{SSH} h2"])
    for transport in RAW_PATTERNS:
        if transport in placed:
            placed[transport].environment["LANYARD_LAB"] = lab.name
    return counted_by(placed, lambda: sum(lab.counters("h1")["rail1"][name]
                                          for name in ("sent_bytes", "received_bytes")))


def in_lossy_lab(libraries, lab, datagrams):
    """Places the libraries in a lab in which h2's link loses packets in both directions.

    Lanyard on TCP runs once with each of CONGESTIONS.
    """
    on_tcp = "lanyard-tcp" if datagrams else "lanyard"
    placed = in_lab(libraries, lab, None, [], datagrams)
    for congestion in CONGESTIONS if on_tcp in placed else ():
        placed[f"lanyard-{congestion}"] = changed(placed[on_tcp], key=f"lanyard-{congestion}",
                                                  title=f"Lanyard, TCP with {congestion}")
        placed[f"lanyard-{congestion}"].prepare = (
            lambda congestion=congestion: change(lab, congestion=congestion))
    placed.pop(on_tcp, None)
    for library in placed.values():
        library.lose = lambda percent: change(lab, "h2", 1, loss=f"{percent:g}%")
    return placed


def change(lab, *where, **changes):
    """Calls Lab.set. If the lab refuses, this counts as a run without a result."""
    from lab import LabError
    try:
        lab.set(*where, **changes)
    except LabError as problem:
        raise measure.Failed(str(problem)) from problem


def inside_host(libraries, lab, host):
    """Returns the libraries and raw TCP unchanged, except that they run inside a host of a lab."""
    def moved(library):
        enter = lab.command(host, [])
        if isinstance(library, Raw):
            return Raw(library.key, library.programs, enter=enter)
        return changed(library, launcher=lambda ranks: [*enter, *library.launcher(ranks)])
    return counted_by({key: moved(library) for key, library in libraries.items()},
                      lambda: lab.counters(host)["lo"]["sent_bytes"])


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
    """Yields the libraries on a route, or unchanged if the route is None.

    A route is 'tcp', 'tcp-MTU', the rate of a lab's link such as '1gbit', or one of LABS. With 'dgram'
    instead of 'tcp', or 'dgram-' before a lab, Lanyard uses datagrams. With a sweep, Lanyard is included once
    for each value.
    """
    def in_variants(moved):
        if not sweep:
            return moved
        others = {key: library for key, library in moved.items() if key != "lanyard"}
        return {**swept(moved["lanyard"], sweep), **others}

    datagrams, place = split(route)
    if route is None:
        yield in_variants(libraries)
    elif place == "":
        yield in_variants(over_loopback(libraries, program, arguments, datagrams))
    elif place.isdigit():
        with make_lab(hosts=1) as lab:
            set_loopback_mtu(lab, "h1", place)
            yield in_variants(inside_host(over_loopback(libraries, program, arguments, datagrams), lab, "h1"))
    elif place == "lossy":
        with make_lab(**LABS[place]) as lab:
            yield in_variants(in_lossy_lab(libraries, lab, datagrams))
    else:
        with make_lab(**LABS.get(place, {"hosts": 2, "rate": place})) as lab:
            yield in_variants(in_lab(libraries, lab, program, arguments, datagrams))


def split(route):
    """Returns (whether Lanyard uses datagrams, the place).

    The place is '' for loopback, digits for loopback with this MTU, and otherwise the name of a lab.
    """
    words = (route or "").split("-")
    return words[0] == "dgram", "-".join(words[1:] if words[0] in ("tcp", "dgram") else words)


def known_sweeps(lanyard):
    """Returns {setting: "ONE,TWO"} for the settings that are worth a sweep, as `lanyard bench` lists them."""
    done = subprocess.run([lanyard.home / "bin" / "lanyard", "bench", "--sweep"], capture_output=True,
                          text=True, check=True)
    return dict(line.split("=") for line in done.stdout.splitlines())


def swept(lanyard, text):
    """Returns Lanyard once for each value of a setting.

    The text is 'eager-limit', or 'eager-limit=0,512' with given values. Settings joined by '+' give all
    combinations of their values.
    """
    libraries = {lanyard.key: lanyard}
    for part in text.split("+"):
        libraries = {key: library for before in libraries.values()
                     for key, library in swept_once(before, part, before is not lanyard).items()}
    return libraries


def swept_once(lanyard, text, joined):
    setting, _, values = text.partition("=")
    if not values:
        known = known_sweeps(lanyard)
        values = known.get(setting)
    if not values:
        raise Unavailable(f"which values of '{setting}'? Write {setting}=ONE,TWO; "
                          f"without values there are {', '.join(known)}")
    values = values.split(",")
    variable = "LANYARD_" + setting.upper().replace("-", "_")
    key, title = (lanyard.key + "+", lanyard.title) if joined else ("", "Lanyard")
    return {f"{key}{setting}={value}": changed(lanyard, {variable: value}, key=f"{key}{setting}={value}",
                                               title=f"{title}, {setting} {value}")
            for value in values}
