"""Adds traps of networks to a lab: connections that are reset from outside, and interfaces that look usable
but are not.

Part of Lab.

    twin    docker0 with 172.17.0.1/16, up and with a carrier, the same on every host. A process that connects
            to a peer's 172.17.0.1 reaches its own host.
    dead    dead0 with an address of a network that all hosts seem to share, up and with a carrier. Its other
            end drops everything.
"""
import json

from .system import call, ip

TWIN, TWIN_ADDRESS = "docker0", "172.17.0.1/16"
DEAD = "dead0"


class Traps:
    """Methods of Lab that need only its names, its addresses and its namespaces."""

    def reset(self, host, port=None, peer=None):
        """Resets the established TCP connections of a host and returns how many there were.

        With `port`, only those that have this port at either end; with `peer`, only those to this host. The
        kernel aborts each connection (CONFIG_INET_DIAG_DESTROY): the program gets ECONNABORTED, the peer a
        RST.
        """
        conditions = []
        if port is not None:
            conditions.append(f"( sport = :{int(port)} or dport = :{int(port)} )")
        if peer is not None:
            conditions.append("( " + " or ".join(f"dst {address}" for address in self.addresses(peer)) + " )")
        words = ["ss", "-K", "-H", "-t", "-n", "state", "established", *" and ".join(conditions).split()]
        return len(call(words, where=self.namespace(host)).splitlines())

    def twin(self, *hosts):
        """Gives hosts the bridge that Docker makes. An interface like that of a container is connected to the
        bridge, so the bridge has a carrier."""
        for host in hosts:
            ip(self.namespace(host), f"link add {TWIN} type bridge",
               f"addr add {TWIN_ADDRESS} brd + dev {TWIN}",
               "link add docker-port type veth peer name docker-peer",
               f"link set docker-port master {TWIN} up", "link set docker-peer up", f"link set {TWIN} up")

    def dead(self, *hosts):
        """Gives hosts an interface whose cable ends at a port of the switch without bridge or address."""
        for host in hosts:
            namespace = self.namespace(host)
            number = self.hosts.index(host) + 1
            ip(self.switch, f"link add {host}dead type veth peer name {DEAD} netns {namespace}",
               f"link set {host}dead up")
            ip(namespace, f"addr add 10.{self.first_octet}.0.{number}/24 brd + dev {DEAD}",
               f"link set {DEAD} up")

    def counters(self, host):
        """The kernel's counts for each interface of a host: bytes and packets each way, and drops."""
        found = json.loads(call(["ip", "-n", self.namespace(host), "-j", "-s", "link", "show"]))
        counted = {}
        for entry in found:
            received, sent = entry["stats64"]["rx"], entry["stats64"]["tx"]
            counted[entry["ifname"]] = {"received_bytes": received["bytes"],
                                        "received_packets": received["packets"],
                                        "sent_bytes": sent["bytes"], "sent_packets": sent["packets"],
                                        "dropped": received["dropped"] + sent["dropped"]}
        return counted
