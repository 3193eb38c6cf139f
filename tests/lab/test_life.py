"""Tests making and removing labs: nothing must stay behind, however a lab ends, and several labs can exist at
once.

The command line must be able to do everything.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from lab import Lab, LabError

pytestmark = [pytest.mark.usefixtures("possible"), pytest.mark.alone]  # other tests have labs, too
LAB = pathlib.Path(__file__).with_name("lab")
# Makes a lab as a test would, starts a process in it that prints its id, and waits.
OWNER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from lab import Lab
with Lab(hosts=2) as lab:
    lab.popen("h1", ["sh", "-c", "echo $$; exec sleep 1000"])
    time.sleep(100)
"""


def traces():
    """Everything that a lab could leave on this machine."""
    def output(*words):
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return {"namespaces": output("ip", "netns", "list"), "links": output("ip", "-br", "link"),
            "routes": output("ip", "route"), "rules": output("nft", "list", "ruleset"),
            "files": sorted(map(str, pathlib.Path("/etc").glob("netns*/*"))),
            "states": sorted(map(str, pathlib.Path("/run").glob("lanyard-lab*/*"))),
            "hostname": os.uname().nodename,
            "congestion": output("sysctl", "-n", "net.ipv4.tcp_congestion_control",
                                 "net.ipv4.tcp_allowed_congestion_control")}


def alive(process):
    return (pathlib.Path(f"/proc/{process}/stat").exists()
            and ") Z " not in pathlib.Path(f"/proc/{process}/stat").read_text())


def run_lab(*words, **keywords):
    done = subprocess.run([sys.executable, "-S", LAB, *map(str, words)], capture_output=True, text=True,
                          check=False, **keywords)
    return done.returncode, done.stdout, done.stderr


def test_nothing_stays_behind():
    before = traces()
    with Lab(hosts=2, rails=2, rate="1gbit", flow_rate="100mbit") as lab:
        assert traces()["namespaces"] != before["namespaces"]
        lab.set(loss="1%", cut=True, congestion="cubic")
        lab.twin("h1")
        lab.dead("h2")
        process = lab.popen("h1", ["sh", "-c", "trap '' TERM HUP INT; sleep 1000 & wait; sleep 1000"])
        assert traces()["links"] == before["links"] and traces()["rules"] == before["rules"]
    assert process.wait(timeout=60) == -signal.SIGKILL
    assert traces() == before
    lab.down()  # removing a lab again is no error
    assert traces() == before


def test_nothing_stays_behind_when_a_test_fails():
    before = traces()
    with pytest.raises(ZeroDivisionError), Lab():
        raise ZeroDivisionError
    assert traces() == before


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_stays_behind_when_the_owner_is_killed(how):
    before = traces()
    words = [sys.executable, "-S", "-c", OWNER, str(LAB.parent.parent)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as owner:
        sleeper = owner.stdout.readline().strip()
        owner.send_signal(how)
    give_up = time.monotonic() + 60
    while traces() != before and time.monotonic() < give_up:
        time.sleep(0.05)
    assert traces() == before
    assert not alive(sleeper)


def test_two_labs_do_not_meet(make_greeter):
    with Lab(hosts=2) as one, Lab(hosts=2) as other, make_greeter(one, "h2") as greeter:
        assert one.name != other.name
        assert greeter.greeting("h1", one.address("h2")) == "h2"
        assert greeter.greeting("h1", other.address("h2"), lab=other) == "ECONNREFUSED"
        other.down()
        assert greeter.greeting("h1", one.address("h2")) == "h2"
        with pytest.raises(LabError, match=f"there is a lab '{one.name}' already"):
            Lab(name=one.name).up()
        assert greeter.greeting("h1", one.address("h2")) == "h2"


def test_the_command_line():
    name = f"cli{os.getpid()}"
    environment = {**os.environ, "LANYARD_LAB": name}
    try:
        assert run_lab("up", "--hosts", 3, "--rails", 2, "--rate", "1gbit", "--name", name) == (0, "", "")
        assert run_lab("run", "h2", "--", "sh", "-c", "hostname; cat; exit 3", env=environment,
                       input="in") == (3, "h2\nin", "")
        assert run_lab("set", "--loss", "1%", "--rail", 1, "--host", "h2", "--mtu", 9000, "--name",
                       name) == (0, "", "")
        assert "numgen random" in run_lab("run", "h2", "--", "nft", "list", "ruleset", env=environment)[1]
        assert (run_lab("set", "--cut", env=environment) == run_lab("set", "--heal", env=environment)
                == (0, "", ""))
        assert run_lab("reset", "h1", env=environment) == (0, "0\n", "")
        assert (run_lab("twin", "h1", "h3", env=environment) == run_lab("dead", "h1", env=environment)
                == (0, "", ""))
        assert (set(json.loads(run_lab("counters", "h1", "--json", env=environment)[1]))
                >= {"lo", "rail1", "rail2", "docker0", "dead0"})
        assert (run_lab("set", env=environment)
                == (1, "", "lab: nothing to set was named; see lab set --help\n"))
        assert "no command was named" in run_lab(
            "run", "h1", "--name", name, "--", "true", env=environment)[2]
        assert (run_lab("run", "h9", "--", "true", env=environment)
                == (1, "", f"lab: lab {name} has no host 'h9'; it has h1 to h3\n"))
        [row, other] = json.loads(run_lab("check", "--seconds", 0.2, "--json", env=environment)[1])
        assert (row["rail"], other["rail"]) == (1, 2) and row["tcp_mb_s"] > 1
    finally:
        assert run_lab("down", "--name", name) == run_lab("down", "--name", name) == (0, "", "")
    assert run_lab("run", "h1", "--", "true", env=environment)[2].startswith(
        f"lab: there is no lab '{name}'; there ")
