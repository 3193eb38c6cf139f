"""Makes and changes a lab. Its hosts are network namespaces, and its rails are bridges in a separate
namespace.

    with Lab(hosts=2, rails=1, rate="1gbit") as lab:
        lab.run("h1", ["hostname"]).stdout

README.md has a picture. All parts of a lab are found by its name: namespaces NAME-h1... and NAME-switch,
folders /etc/netns/NAME-..., and the file /run/lanyard-lab/NAME.json. This file is written first and removed
last. Any process can therefore find, change or remove a lab, but two processes must not change the same lab
at the same time. A Lab in a `with` statement has a guard, a process that removes the lab even if this process
is killed.
"""
import contextlib
import dataclasses
import fcntl
import ipaddress
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from . import links, traps
from .links import Link
from .system import NAMESPACES, LabError, call, ip, missing, namespaces, processes_in, sysctl

STATES = pathlib.Path("/run/lanyard-lab")
FILES = pathlib.Path("/etc/netns")
HOSTS_MAX, RAILS_MAX = 64, 8
NAME_MAX = 40
OWN_COMMAND = [sys.executable, "-S", str(pathlib.Path(__file__).with_name("lab"))]
# Names are looked up only in the host's own hosts file, so the answer for an unknown one is immediate.
SWITCH_CONF = "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\nprotocols: files\n"
ENTER = 'echo "$0" >/proc/sys/kernel/hostname && exec "$@"'
_labs_made = itertools.count()


class Lab(traps.Traps):
    """A lab with hosts h1 to hN. Rates are written like '1gbit', or are None; `flow_rate` limits each flow.

    `queue` is the size of the switch's queue towards each host, and `burst` is the amount that may pass at
    once. Both are in bytes (links.py).
    """

    def __init__(self, hosts=2, rails=1, rate=None, mtu=1500, name=None, queue=None, burst=None,
                 flow_rate=None):
        if not 1 <= hosts <= HOSTS_MAX or not 1 <= rails <= RAILS_MAX:
            raise LabError(f"a lab has 1 to {HOSTS_MAX} hosts and 1 to {RAILS_MAX} rails, not {hosts} and "
                           f"{rails}")
        self.name = name or f"lab{os.getpid()}" + (f"-{number}" if (number := next(_labs_made)) else "")
        if len(self.name) > NAME_MAX or not self.name.replace("-", "").isalnum():
            raise LabError(f"'{self.name}' is no name for a lab; use up to {NAME_MAX} letters, digits and "
                           "'-'")
        self.hosts = [f"h{number}" for number in range(1, hosts + 1)]
        self.rails = list(range(1, rails + 1))
        self.first_octet = 0
        self.ssh = {}
        self.congestion = {}
        wanted = {"rate_bps": links.bits_per_second(rate), "flow_bps": links.bits_per_second(flow_rate),
                  "burst_bytes": burst, "queue_bytes": queue}
        self.links = [Link(host, rail, mtu=mtu, **wanted) for host in self.hosts for rail in self.rails]
        self._guard = None

    # Names and addresses ------------------------------------------------------------------------------------

    @property
    def switch(self):
        return f"{self.name}-switch"

    def namespace(self, host):
        if host not in self.hosts:
            raise LabError(f"lab {self.name} has no host '{host}'; it has {self.hosts[0]} to "
                           f"{self.hosts[-1]}")
        return f"{self.name}-{host}"

    def address(self, host, rail=1):
        """A host's address on a rail: 10.X.0.N. X counts up with the rail, and N is the host's number."""
        if host not in self.hosts or rail not in self.rails:
            raise LabError(f"lab {self.name} has no rail {rail} at host '{host}'; it has rails 1 to "
                           f"{self.rails[-1]}, hosts h1 to {self.hosts[-1]}")
        return f"10.{self.first_octet + rail}.0.{self.hosts.index(host) + 1}"

    def addresses(self, host):
        return [self.address(host, rail) for rail in self.rails]

    def links_of(self, host=None, rail=None):
        """The links of a host and of a rail; None means all hosts or all rails."""
        self.address(host or self.hosts[0], rail or 1)
        return [link for link in self.links if host in (None, link.host) and rail in (None, link.rail)]

    # Life ---------------------------------------------------------------------------------------------------

    def up(self):
        if reason := missing():
            raise LabError(f"no lab can be made here: {reason}")
        if (STATES / f"{self.name}.json").exists() or self._namespaces():
            raise LabError(f"there is a lab '{self.name}' already; remove it with 'lab down --name "
                           f"{self.name}' or choose another name")
        self.first_octet = free_octet(len(self.rails))
        self.save()
        try:
            self._make_switch()
            for host in self.hosts:
                self._make_host(host)
            for link in self.links:
                if link.rate_bps or link.flow_bps:
                    links.shape(self, link)
            if any(link.flow_bps for link in self.links):
                self.apply_filters(self.hosts)
        except BaseException:
            self.down()
            raise

    def down(self):
        """Removes whatever exists of the lab. Processes in its hosts are killed."""
        for namespace in self._namespaces():
            kill_all_in(namespace)
            call(["ip", "netns", "del", namespace])
        for folder in FILES.glob(f"{self.name}-*"):
            if self._is_ours(folder.name):
                shutil.rmtree(folder)
        (STATES / f"{self.name}.json").unlink(missing_ok=True)
        for folder in (FILES, STATES):
            try:
                folder.rmdir()  # succeeds only if the folder is empty
            except OSError:
                pass

    def __enter__(self):
        self._guard = subprocess.Popen(self.own_command("guard", self.name), stdin=subprocess.PIPE,
                                       start_new_session=True)
        try:
            self.up()
        except BaseException:
            self._dismiss_guard()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.down()
        except BaseException:
            self._guard.communicate()  # without "done" on its input, the guard tries once more
            raise
        self._dismiss_guard()

    def _dismiss_guard(self):
        self._guard.communicate(b"done")

    def _is_ours(self, name):
        rest = name.removeprefix(f"{self.name}-")
        return rest != name and (rest == "switch" or (rest[:1] == "h" and rest[1:].isdigit()))

    def _namespaces(self):
        return [name for name in namespaces() if self._is_ours(name)]

    # State --------------------------------------------------------------------------------------------------

    def save(self):
        STATES.mkdir(exist_ok=True)
        state = {"hosts": len(self.hosts), "rails": len(self.rails), "first_octet": self.first_octet,
                 "ssh": self.ssh, "congestion": self.congestion,
                 "links": [dataclasses.asdict(link) for link in self.links]}
        beside = STATES / f"{self.name}.json.{os.getpid()}"
        beside.write_text(json.dumps(state))
        beside.rename(STATES / f"{self.name}.json")

    @classmethod
    def open(cls, name):
        """A lab that exists, made by any process."""
        try:
            state = json.loads((STATES / f"{name}.json").read_text())
        except FileNotFoundError as error:
            raise LabError(f"there is no lab '{name}'; there {names_there()}") from error
        lab = cls(state["hosts"], state["rails"], name=name)
        lab.first_octet, lab.ssh, lab.congestion = state["first_octet"], state["ssh"], state["congestion"]
        lab.links = [Link(**link) for link in state["links"]]
        return lab

    # Making -------------------------------------------------------------------------------------------------

    def _make_switch(self):
        call(["ip", "netns", "add", self.switch])
        # The switch only bridges frames. It has no IPv6 of its own, and frames do not pass its IP firewall.
        sysctl(self.switch, net__ipv6__conf__default__disable_ipv6=1)
        if pathlib.Path("/proc/sys/net/bridge").exists():
            sysctl(self.switch,
                   **{f"net__bridge__bridge-nf-call-{kind}tables": 0 for kind in ("ip", "ip6", "arp")})
        ip(self.switch,
           *(f"link add rail{rail} type bridge stp_state 0 mcast_snooping 0" for rail in self.rails),
           *(f"link set rail{rail} up" for rail in self.rails))

    def _make_host(self, host):
        namespace = f"{self.name}-{host}"
        call(["ip", "netns", "add", namespace])
        self._write_files(host, namespace)
        # The host gets no automatic IPv6 addresses, because their announcements would count as traffic of the
        # test.
        sysctl(namespace, net__ipv6__conf__default__addr_gen_mode=1)
        mine = self.links_of(host)
        ip(self.switch,
           *(f"link add {link.port} mtu {link.mtu} type veth peer name {link.interface} mtu {link.mtu} netns "
             f"{namespace}" for link in mine),
           *(f"link set {link.port} master {link.interface} up" for link in mine))
        ip(namespace, "link set lo up",
           *(f"addr add {self.address(host, link.rail)}/24 brd + dev {link.interface}" for link in mine),
           *(f"link set {link.interface} up" for link in mine))

    def _write_files(self, host, namespace):
        """Writes files by which each host finds all other hosts by name.

        `ip netns exec` shows the files of this folder in place of those in /etc.
        """
        folder = FILES / namespace
        folder.mkdir(parents=True)
        lines = ["127.0.0.1 localhost"]
        for other in self.hosts:
            lines += [f"{self.address(other, rail)} {other + ' ' if rail == 1 else ''}{other}-rail{rail}"
                      for rail in self.rails]
        contents = {"hosts": "\n".join(lines) + "\n", "hostname": f"{host}\n", "nsswitch.conf": SWITCH_CONF}
        for name, text in contents.items():
            if pathlib.Path("/etc", name).exists():
                (folder / name).write_text(text)

    # Use ----------------------------------------------------------------------------------------------------

    def command(self, host, words):
        """Returns the command that runs `words` in a host.

        The command replaces itself by `words`, so exit code, signals and streams are those of `words`.
        """
        return ["ip", "netns", "exec", self.namespace(host), "unshare", "--uts", "sh", "-c", ENTER, host,
                *map(str, words)]

    @staticmethod
    def own_command(*words):
        """The command that runs `lab` with the Python of this process."""
        return [*OWN_COMMAND, *words]

    def environment(self, values=None):
        return {**os.environ, "LANYARD_LAB": self.name, **(values or {})}

    def popen(self, host, words, env=None, **keywords):
        """subprocess.Popen of a command in a host; `env` is added to this process's environment."""
        return subprocess.Popen(self.command(host, words), env=self.environment(env), **keywords)

    def run(self, host, words, env=None, **keywords):
        """subprocess.run of a command in a host. By default its output is captured as text."""
        if not {"stdout", "stderr", "capture_output"} & set(keywords):
            keywords["capture_output"] = True
        keywords.setdefault("text", True)
        keywords.setdefault("check", False)
        return subprocess.run(self.command(host, words), env=self.environment(env), **keywords)

    def apply_filters(self, hosts):
        links.filters(self, self.switch, self.links)
        for host in hosts:
            links.filters(self, self.namespace(host), self.links_of(host))

    def set(self, host=None, rail=None, **changes):
        """Changes links: rate, flow_rate, mtu, loss, cut (True or False), longest_udp (bytes, or None).

        `congestion` and `ssh` change hosts. Without a host or rail, all of them are changed.
        """
        chosen = self.links_of(host, rail)
        meanings = {"rate": ("rate_bps", links.bits_per_second),
                    "flow_rate": ("flow_bps", links.bits_per_second),
                    "loss": ("loss", links.fraction), "mtu": ("mtu", int), "cut": ("cut", bool),
                    "longest_udp": ("longest_udp", lambda value: value)}
        of_hosts = {name: changes.pop(name) for name in ("congestion", "ssh") if name in changes}
        for name, value in changes.items():
            member, convert = meanings[name]
            for link in chosen:
                setattr(link, member, convert(value))
        if "mtu" in changes:
            for link in chosen:
                links.set_mtu(self, link)
        if {"rate", "flow_rate", "mtu"} & set(changes):
            for link in chosen:
                links.shape(self, link)
        if {"loss", "longest_udp"} & set(changes):
            for link in chosen:
                links.set_offloads(self, link)
        if {"loss", "flow_rate"} & set(changes):
            self.apply_filters({link.host for link in chosen})
        elif {"cut", "longest_udp"} & set(changes):
            self.apply_filters([])  # only the switch's filters, so that a cut is quick
        self._set_hosts([host] if host else self.hosts, **of_hosts)
        self.save()

    def _set_hosts(self, hosts, congestion=None, ssh=None):
        for host in hosts:
            if congestion:
                set_congestion(self.namespace(host), congestion)
                self.congestion[host] = congestion
            if ssh:
                self.ssh[host] = ssh

    def cut(self, host=None, rail=None):
        """Cuts cables: frames are lost both ways without an error. The host's interface keeps its carrier."""
        self.set(host, rail, cut=True)

    def heal(self, host=None, rail=None):
        self.set(host, rail, cut=False)


@contextlib.contextmanager
def only_one_at_a_time():
    """Lets only one process at a time execute the block, even among processes of different labs."""
    folder = os.open(STATES, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def set_congestion(namespace, name):
    """Sets the congestion control of a namespace.

    A namespace may choose only what the machine allows to all processes, so the machine allows the choice for
    a moment.
    """
    known = call(["sysctl", "-n", "net.ipv4.tcp_available_congestion_control"]).split()
    if name not in known:
        raise LabError(f"this kernel has no congestion control '{name}'; it has {', '.join(known)}")
    with only_one_at_a_time():
        allowed = call(["sysctl", "-n", "net.ipv4.tcp_allowed_congestion_control"]).strip()
        if name not in allowed.split():
            sysctl(None, net__ipv4__tcp_allowed_congestion_control=f"{allowed} {name}")
        try:
            sysctl(namespace, net__ipv4__tcp_congestion_control=name)
        finally:
            sysctl(None, net__ipv4__tcp_allowed_congestion_control=allowed)


def free_octet(rails):
    """Chooses the X of the addresses 10.X.0.N of dead interfaces (traps.py). The rails have the next numbers.

    The machine itself has no route to any 10.X.0.0/24 of the lab.
    """
    routes = json.loads(call(["ip", "-j", "route", "show", "table", "all"]))
    taken = [ipaddress.ip_network(route["dst"], strict=False) for route in routes
             if route["dst"][0].isdigit()]
    for first in range(210, 0, -10):
        wanted = [ipaddress.ip_network(f"10.{first + rail}.0.0/24") for rail in range(rails + 1)]
        if not any(network.prefixlen > 0 and network.version == 4 and network.overlaps(rail)
                   for network in taken for rail in wanted):
            return first
    raise LabError("the machine itself has routes to all of 10.0.0.0/8, so the lab finds no addresses")


def kill_all_in(namespace, patience_s=10):
    """Kills the processes in a namespace until none is left. This is repeated, because a process may start
    another before it is killed."""
    give_up = time.monotonic() + patience_s
    while living := processes_in(namespace):
        if time.monotonic() > give_up:
            raise LabError(f"processes {', '.join(map(str, living))} in {namespace} do not end though they "
                           "were killed")
        for process in living:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


def names():
    """Names of the labs that are up."""
    return sorted(path.stem for path in STATES.glob("*.json"))


def names_there():
    return f"are {', '.join(names())}" if names() else "is none; make one with 'lab up'"
