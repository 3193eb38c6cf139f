"""A relay between TCP ends: prints where it listens, then reads commands from its standard input.

Each line is a method of Relay with its arguments. The answer is a line of JSON, {"result": ...} or
{"error": "..."}.

    lab run h1 -- lab relay --target 10.211.0.2:5000 --listen 10.211.0.1:6000
    delay forward 20
    counts
"""
import functools
import json
import subprocess
import sys

from .relay import Relay
from .system import LabError

# The commands, each with the types of its arguments.
COMMANDS = {"delay": (str, float), "stall": (str, float),
            "bytewise": (str, lambda word: word in ("on", "True")), "flip": (str, int, int),
            "reset_at": (str, int), "reset": (), "counts": ()}


def address_of(text):
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit():
        raise LabError(f"'{text}' is not ADDRESS:PORT")
    return host, int(port)


def answer(relay, line):
    name, *words = line.split()
    if name not in COMMANDS:
        return {"error": f"there is no command '{name}'; there are {', '.join(COMMANDS)}"}
    try:
        return {"result": getattr(relay, name)(
            *(convert(word) for convert, word in zip(COMMANDS[name], words)))}
    except (TypeError, ValueError) as error:
        return {"error": f"{name}: {error}"}


def serve(options):
    """`lab relay`."""
    with Relay(address_of(options.target), address_of(options.listen), options.seed) as relay:
        print(json.dumps({"address": relay.address}), flush=True)
        for line in filter(str.strip, sys.stdin):
            print(json.dumps(answer(relay, line)), flush=True)


class RelayProcess:
    """A relay in a host of a lab, with the methods and the attribute `address` of Relay.

    By default it listens at any port of the host's address.
    """

    def __init__(self, lab, host, target, listen=None, seed=None):
        listen = listen or (lab.address(host), 0)
        words = [*lab.own_command("relay"), "--target", "{}:{}".format(*target), "--listen",
                 "{}:{}".format(*listen)]
        words += ["--seed", seed] if seed is not None else []
        self._process = lab.popen(host, words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  bufsize=1)
        first = self._process.stdout.readline()
        if first.startswith("relay: seed"):
            self.seed = int(first.split()[-1])
            print(first, end="")
            first = self._process.stdout.readline()
        if not first:
            self.stop()
            raise LabError(f"the relay in {host} ended at once; what it said is above")
        self.address = tuple(json.loads(first)["address"])

    def __getattr__(self, name):
        if name not in COMMANDS:
            raise AttributeError(name)
        return functools.partial(self._ask, name)

    def _ask(self, *words):
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        line = self._process.stdout.readline()
        reply = json.loads(line) if line else {"error": "the relay has ended"}
        if "error" in reply:
            raise LabError(reply["error"])
        return reply["result"]

    def stop(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
