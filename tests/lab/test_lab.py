"""Tests that the lab's links do what is set: reach, rate, queue, loss, cuts, resets, traps, counters."""
import json
import subprocess
import time

import pytest
from lab import Lab, LabError, check

pytestmark = pytest.mark.usefixtures("possible")
CONGESTION = ["sysctl", "-n", "net.ipv4.tcp_congestion_control"]


def eventually(condition, seconds=60):
    """Returns the value of a condition as soon as it is true, or its last value if it does not become true in
    time."""
    give_up = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < give_up:
        time.sleep(0.02)
    return found


def nearly(value, wanted, share):
    return wanted * (1 - share) <= value <= wanted * (1 + share)


def test_hosts_reach_each_other_by_address_and_by_name(lab, greeter):
    for address in (*lab.addresses("h3"), "h3", "h3-rail2"):
        assert [greeter.greeting(source, address) for source in ("h1", "h2")] == ["h3", "h3"], address
    assert greeter.greeting("h1", lab.address("h2")) == "ECONNREFUSED"


def test_hosts_reach_nobody_else(lab):
    links = json.loads(lab.run("h1", ["ip", "-j", "link"]).stdout)
    assert {link["ifname"] for link in links} == {"lo", "rail1", "rail2"}
    routes = json.loads(lab.run("h1", ["ip", "-j", "route"]).stdout)
    assert {route["dst"] for route in routes} == {f"10.{lab.first_octet + rail}.0.0/24" for rail in (1, 2)}
    assert lab.run("h1", ["getent", "hosts", "example.org"]).returncode == 2


def test_a_command_in_a_host_is_as_if_started_here(lab):
    done = lab.run("h2", ["sh", "-c", "hostname; cat; echo $LANYARD_LAB $MORE >&2; exit 7"], input="typed\n",
                   env={"MORE": "too"})
    assert (done.returncode, done.stdout, done.stderr) == (7, "h2\ntyped\n", f"{lab.name} too\n")
    with lab.popen("h1", ["sleep", "100"]) as process:
        process.terminate()
        assert process.wait(timeout=60) == -15
    with pytest.raises(LabError, match="no host 'h4'; it has h1 to h3"):
        lab.run("h4", ["true"])


@pytest.mark.parametrize("pair", [("h1", "h2"), ("h2", "h1")])
def test_the_rate_holds_both_ways(lab, streams, line_rate_mb_s, pair):
    """No stream must be faster than the line, and the line must have the rate that is set.

    Whether a stream fills the line depends on the machine's other work. bench/run has a goal for that
    (lab-bandwidth).
    """
    [rate] = streams(lab, [pair])
    assert 0.1 * line_rate_mb_s < rate < 1.1 * line_rate_mb_s


def dropped_at_port(lab, port):
    [queue] = json.loads(subprocess.run(
        ["tc", "-n", lab.switch, "-j", "-s", "qdisc", "show", "dev", port, "root"],
        capture_output=True, check=True).stdout)
    return queue["drops"]


def test_incast_overflows_the_queue_of_the_receivers_port(lab, streams, line_rate_mb_s):
    lab.set(congestion="cubic")
    rates = streams(lab, [("h1", "h3"), ("h2", "h3")])
    assert line_rate_mb_s * 0.1 < sum(rates) < 1.1 * line_rate_mb_s, rates
    assert dropped_at_port(lab, "h3r1") > 0


def test_rate_and_congestion_control_can_be_changed(lab, streams, line_rate_mb_s):
    usual = lab.run("h1", CONGESTION).stdout
    lab.set(rail=2, rate="10mbit", congestion="reno")
    assert streams(lab, [("h1", "h2")], rail=2)[0] < 0.15 * line_rate_mb_s
    assert lab.run("h1", CONGESTION).stdout == "reno\n"
    lab.set(rail=2, rate="none", congestion=usual.strip())
    assert lab.run("h1", CONGESTION).stdout == usual
    assert streams(lab, [("h1", "h2")], rail=2, seconds=0.2)[0] > 1.2 * line_rate_mb_s
    lab.set(rail=2, rate="100mbit")
    with pytest.raises(LabError, match="no congestion control 'fast'"):
        lab.set(congestion="fast")


def offloads(lab, host):
    lines = lab.run(host, ["ethtool", "-k", "rail1"]).stdout.splitlines()
    return {line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("tcp-seg", "generic-"))}


def mean_packet(lab, raw):
    """Mean size of the packets of a stream that h2 receives from h1.

    The stream is killed, because under loss TCP may need a minute to end it.
    """
    before = lab.counters("h2")["rail1"]
    with (check.server(lab, raw, "h2", 1) as port,
          lab.popen("h1", [raw, "bulk", lab.address("h2"), port, 60]) as sender):
        time.sleep(0.5)
        sender.kill()
    after = lab.counters("h2")["rail1"]
    return ((after["received_bytes"] - before["received_bytes"])
            / (after["received_packets"] - before["received_packets"]))


def test_loss_is_per_packet_and_ends(lab, raw):
    usual = offloads(lab, "h2")
    assert mean_packet(lab, raw) > 1514  # without loss, packets are longer than a frame
    lab.set("h2", 1, loss="10%")
    try:
        with check.server(lab, raw, "h2", 1) as port:
            sent, received, _ = check.measured(lab, raw, "h1", "udp", lab.address("h2"), port, 1, 500, 1e6)
        assert sent > 300 and nearly(1 - received / sent, 0.1, 0.5)
        assert mean_packet(lab, raw) <= 1514
        assert set(offloads(lab, "h2").values()) == {"off"}
    finally:
        lab.set("h2", 1, loss=0)
    assert offloads(lab, "h2") == usual
    for namespace in (lab.switch, lab.namespace("h2")):
        assert subprocess.run(["ip", "netns", "exec", namespace, "nft", "list", "ruleset"],
                              capture_output=True, check=True).stdout == b""


def test_a_cut_cable_is_silent_and_heals(lab, greeter):
    lab.cut("h3", 1)
    assert ([greeter.greeting(source, lab.address("h3"), seconds=0.5) for source in ("h1", "h2")]
            == ["timeout", "timeout"])
    assert lab.run("h3", ["cat", "/sys/class/net/rail1/carrier"]).stdout == "1\n"
    assert greeter.greeting("h1", lab.address("h3", 2)) == "h3"
    assert greeter.greeting("h1", lab.address("h2")) == "ECONNREFUSED"
    lab.heal("h3", 1)
    assert greeter.greeting("h1", lab.address("h3")) == "h3"


def test_reset_kills_the_connections_asked_for(lab, raw):
    with check.server(lab, raw, "h2", 1) as port:
        ping = lab.popen("h1", [raw, "ping", lab.address("h2"), port, 30, 1, "block"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
        assert eventually(lambda: f":{port}" in lab.run("h2", ["ss", "-Htn", "state", "established"]).stdout)
        assert (lab.reset("h2", port=port + 1), lab.reset("h2", peer="h3"), lab.reset("h3")) == (0, 0, 0)
        assert lab.reset("h2", port=port, peer="h1") == 1
        _, said = ping.communicate(timeout=60)
        assert ping.returncode == 1 and "reset by peer" in said
        assert lab.reset("h2") == 0


def test_twins_reach_themselves_and_dead_interfaces_nobody(make_greeter):
    with Lab(hosts=2) as lab, make_greeter(lab, "h2") as greeter:
        lab.twin("h1", "h2")
        lab.dead("h1", "h2")
        shown = {entry["ifname"]: entry for entry in json.loads(lab.run("h1", ["ip", "-j", "addr"]).stdout)}
        for name, address in (("docker0", "172.17.0.1"), ("dead0", f"10.{lab.first_octet}.0.1")):
            assert [info["local"] for info in shown[name]["addr_info"]] == [address]
            assert {"UP", "LOWER_UP"} <= set(shown[name]["flags"])
        assert [greeter.greeting(host, "172.17.0.1") for host in lab.hosts] == ["ECONNREFUSED", "h2"]
        assert greeter.greeting("h1", f"10.{lab.first_octet}.0.2", seconds=0.3) == "timeout"


def test_a_flow_has_a_cap_of_its_own(streams):
    cap_mb_s = 40 / 8
    with Lab(hosts=2, flow_rate="40mbit") as lab:
        [alone] = streams(lab, [("h1", "h2")])
        together = streams(lab, [("h1", "h2")] * 4)
    assert 0.1 * cap_mb_s < alone < 1.15 * cap_mb_s
    # Two flows may share one of the 1024 classes.
    assert sum(together) > 1.2 * cap_mb_s and max(together) < 1.15 * cap_mb_s, together


def test_counters_tell_the_rails_apart(lab, streams):
    before = lab.counters("h1")
    [rate] = streams(lab, [("h1", "h2")], rail=2, seconds=0.3)
    after = lab.counters("h1")
    assert after["rail2"]["sent_bytes"] - before["rail2"]["sent_bytes"] > rate * 1e6 * 0.3
    assert after["rail2"]["sent_packets"] > before["rail2"]["sent_packets"]
    assert after["rail1"]["sent_bytes"] - before["rail1"]["sent_bytes"] < 1000


def test_large_frames_pass_whole(raw):
    with Lab(hosts=2, mtu=9000) as lab:
        before = lab.counters("h2")["rail1"]["received_packets"]
        with check.server(lab, raw, "h2", 1) as port:
            sent, received, _ = check.measured(lab, raw, "h1", "udp", lab.address("h2"), port, 0.4, 8972, 2e6)
        assert sent == received > 10
        assert lab.counters("h2")["rail1"]["received_packets"] - before < sent + 30
        lab.set("h2", mtu=1500)
        assert lab.run("h2", ["cat", "/sys/class/net/rail1/mtu"]).stdout == "1500\n"


def test_check_prints_figures_for_every_rail(lab):
    rows = check.check(lab, seconds=0.3)
    control = lab.run("h1", CONGESTION).stdout.strip()
    assert ([(row["rail"], row["mtu"], row["rate_mbit"]) for row in rows]
            == [(1, 1500, 100.0), (2, 1500, 100.0)])
    for row in rows:
        assert (row["congestion"] == control and row["tcp_mb_s"] > 0 and row["rtt_us"] > 0
                and row["rtt_spin_us"] > 0)
        assert row["udp_mb_s"] > 0 and 0 <= row["udp_lost"] < 1
    lines = check.table(rows).splitlines()
    assert lines[0].split()[:3] == ["rail", "congestion", "mtu"] and len(lines) == 3


@pytest.mark.parametrize(("keywords", "sentence"), [
    ({"rate": "fast"}, "'fast' is not a rate"), ({"rate": "0gbit"}, "'0gbit' is not a rate"),
    ({"hosts": 0}, "1 to 64 hosts"),
    ({"name": "a b"}, "no name for a lab"), ({"name": "x/y"}, "no name for a lab")])
def test_what_cannot_be_is_refused_in_words(keywords, sentence):
    with pytest.raises(LabError, match=sentence):
        Lab(**keywords)
