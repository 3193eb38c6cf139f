"""Sets up the links of a lab: the rate of each link, what it loses, whether its cable is cut.

A link is a veth pair: `rail1` in the host, `h2r1` on the switch. A Link describes its wanted state. `shape`
and `filters` bring the kernel to that state from any other, so that one change never undoes another.

    host h2                                      switch
    rail1 --- tbf or htb (the card) -----------> h2r1 --- bridge rail1
          <------------ tbf, finite queue -----       (incast overflows here)

Loss: a packet is dropped where it arrives, on either end, after the sender's side has cut it to frames. For
this, the segmentation offloads of both ends are off.

Cut: the switch forwards nothing from or to the port. If the port were taken down instead, the host would lose
its carrier. If it were taken out of the bridge, the switch would forget the host's address. A broken cable
does neither.

Longest UDP: the switch drops datagrams with more payload, and no sender gets an error. This acts as a
firewall (0), or as a router with a smaller MTU whose ICMP is blocked.
"""
import dataclasses
import re

from .system import LabError, call, ip, nft, tc

CARD_QUEUE_BYTES = 4 << 20  # as in a network card's driver: TCP and a blocking UDP socket never fill it
FLOW_CLASSES = 1024
UDP_HEADER_BYTES = 8
FLOW_HANDLE = 0x10100       # class 1:100, the first class of a flow, as a packet priority
UNLIMITED_BPS = 100_000_000_000
OFFLOADS = ("tso", "gso", "tx-udp-segmentation", "gro")


@dataclasses.dataclass
class Link:
    host: str
    rail: int
    rate_bps: int | None = None
    flow_bps: int | None = None
    burst_bytes: int | None = None
    queue_bytes: int | None = None
    mtu: int = 1500
    loss: float = 0.0
    cut: bool = False
    longest_udp: int | None = None

    @property
    def interface(self):
        return f"rail{self.rail}"

    @property
    def port(self):
        return f"{self.host}r{self.rail}"

    def burst(self):
        """Returns the bytes that may pass at once: as many as the rate carries in a millisecond, at most 256
        KB.

        If the kernel's timer fires after the burst is over, bandwidth is lost. With a quarter of this burst,
        a busy machine of two processors loses a fifth of 1 Gbit/s. An additional limit of the peak rate has
        the same effect. A long burst has a disadvantage: a ping-pong of messages shorter than the burst is
        faster than the link. Measure a ping-pong with a smaller burst.
        """
        wanted = self.burst_bytes or min(256_000, self.rate_bps // 8 // 1000)
        return max(wanted, 16_000 if not self.burst_bytes else 0, 2 * (self.mtu + 14))

    def queue(self):
        """Returns the bytes that may wait at the switch's port: as many as the rate carries in 2 ms, as in
        small switches, and at least a frame."""
        return max(self.queue_bytes or max(64_000, self.rate_bps // 8 // 500), self.mtu + 14)


def bits_per_second(text):
    """The rate written as '1gbit', '100mbit' or '2.5gbit'; None for 'none'."""
    if text is None or str(text) == "none":
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)bit", str(text))
    if not found or float(found[1]) == 0:
        raise LabError(f"'{text}' is not a rate; a rate is written like 100mbit, 1gbit or none")
    return int(float(found[1]) * {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}[found[2]])


def fraction(text):
    """The loss written as '1%', '0.5%' or a fraction such as 0.01."""
    try:
        value = float(str(text).rstrip("%")) / (100 if str(text).endswith("%") else 1)
    except ValueError:
        value = -1
    if not 0 <= value <= 1:
        raise LabError(f"'{text}' is not a loss; a loss is written like 1% or 0.01")
    return value


def shape(lab, link):
    """Sets the rate and queue of both ends. The packets in a replaced queue are lost."""
    device = f"dev {link.interface} root"
    clear(lab.namespace(link.host), link.interface)
    clear(lab.switch, link.port)
    if link.rate_bps:
        tc(lab.switch, f"qdisc add dev {link.port} root tbf rate {link.rate_bps}bit burst {link.burst()} "
                       f"limit {link.queue()}")
    if link.flow_bps:
        tc(lab.namespace(link.host), *flow_classes(link))
    elif link.rate_bps:
        tc(lab.namespace(link.host),
           f"qdisc add {device} tbf rate {link.rate_bps}bit burst {link.burst()} limit {CARD_QUEUE_BYTES}")


def clear(where, device):
    """Removes the queue, so that there is none, as on a new veth."""
    if "noqueue" not in call(["tc", "-n", where, "qdisc", "show", "dev", device, "root"]):
        tc(where, f"qdisc del dev {device} root")


def flow_classes(link):
    """Yields the commands that limit the rate of each flow, at the sender.

    Each class has almost no rate of its own and borrows from the rate of the link, up to the limit. Some
    kernels lack the `flow` and `flower` classifiers. Therefore nftables writes the class into the packet's
    priority, which htb reads first.
    """
    total = link.rate_bps or UNLIMITED_BPS
    burst = max(16_000, min(256_000, link.flow_bps // 8 // 500), 2 * (link.mtu + 14))
    yield f"qdisc add dev {link.interface} root handle 1: htb default 1"
    yield f"class add dev {link.interface} parent 1: classid 1:2 htb rate {total}bit burst {burst}"
    yield (f"class add dev {link.interface} parent 1:2 classid 1:1 htb rate {total}bit burst {burst} quantum "
           f"{link.mtu + 14}")
    for index in range(FLOW_CLASSES):
        yield (f"class add dev {link.interface} parent 1:2 classid 1:{(FLOW_HANDLE & 0xffff) + index:x} htb "
               f"rate 8kbit ceil {link.flow_bps}bit burst {link.mtu + 14} cburst {burst} quantum "
               f"{4 * (link.mtu + 14)}")


def filters(lab, where, links):
    """Rewrites the rules of one namespace, a host's or the switch's, for all its links at once."""
    device = "port" if where == lab.switch else "interface"
    chains = [f'chain lose_{getattr(link, device)} {{ type filter hook ingress device '
              f'"{getattr(link, device)}" priority 0; '
              f"numgen random mod 1000000 < {round(link.loss * 1e6)} drop; }}"
              for link in links if link.loss]
    if where != lab.switch:
        chains += [spread(link) for link in links if link.flow_bps]
    rules = replace_table("netdev lab", chains)
    if where == lab.switch:
        rules += replace_table(
            "bridge lab", cut_chains([link.port for link in links if link.cut]) + udp_chains(links))
    nft(where, rules)


def spread(link):
    """Chooses the flow class of a packet by both port numbers, in the same way in every run."""
    rules = "; ".join(f"meta l4proto {kind} meta priority set jhash {kind} sport . {kind} dport mod "
                      f"{FLOW_CLASSES} seed 1 offset {FLOW_HANDLE}"
                      for kind in ("tcp", "udp"))
    return (f'chain spread_{link.interface} {{ type filter hook egress device "{link.interface}" priority 0; '
            f'{rules}; }}')


def cut_chains(ports):
    if not ports:
        return []
    names = ", ".join(f'"{port}"' for port in ports)
    return [f"chain cut {{ type filter hook forward priority 0; iifname {{ {names} }} drop; oifname {{ "
            f"{names} }} drop; }}"]


def udp_chains(links):
    rules = [f'{way} "{link.port}" udp length > {link.longest_udp + UDP_HEADER_BYTES} drop' for link in links
             if link.longest_udp is not None
             for way in ("iifname", "oifname")]
    return [f"chain swallow {{ type filter hook forward priority 0; {'; '.join(rules)}; }}"] if rules else []


def replace_table(table, chains):
    """Replaces a table. It is made before it is deleted, because deleting a missing table is an error."""
    body = f"table {table} {{\n" + "\n".join(chains) + "\n}\n" if chains else ""
    return f"table {table}\ndelete table {table}\n{body}"


def set_offloads(lab, link):
    """Turns the offloads of both ends off if a rule of the link must see single packets.

    Otherwise the offloads are as on a new veth: segmentation on, merging off.
    """
    judged = link.loss or link.longest_udp is not None
    words = [word for name in OFFLOADS for word in (name, "on" if not judged and name != "gro" else "off")]
    call(["ethtool", "-K", link.interface, *words], where=lab.namespace(link.host))
    call(["ethtool", "-K", link.port, *words], where=lab.switch)


def set_mtu(lab, link):
    ip(lab.namespace(link.host), f"link set {link.interface} mtu {link.mtu}")
    ip(lab.switch, f"link set {link.port} mtu {link.mtu}")
