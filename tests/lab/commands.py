"""Implements the command line of `tests/lab/lab`. A command that succeeds prints only what was requested."""
import argparse
import json
import os
import sys

from . import check, network, relay_command
from .network import Lab
from .remote_shell import MODES
from .system import LabError


def positive(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


def the_lab(options):
    """The lab that --name or LANYARD_LAB names, or the only one that exists."""
    name = options.name or os.environ.get("LANYARD_LAB")
    if not name and len(network.names()) != 1:
        raise LabError(f"which lab? There {network.names_there()}; name one with --name or LANYARD_LAB")
    return Lab.open(name or network.names()[0])


def up(options):
    lab = Lab(options.hosts, options.rails, options.rate, options.mtu, options.name, options.queue,
              options.burst, options.flow_rate)
    lab.up()
    if not options.name:
        print(lab.name)


def down(options):
    if options.all:
        chosen = network.names()
    else:
        chosen = [options.name or os.environ.get("LANYARD_LAB")]
        if not chosen[0]:
            chosen = network.names()
            if len(chosen) > 1:
                raise LabError(f"which lab? There {network.names_there()}; name one with --name, or say "
                               "--all")
    for name in chosen:
        Lab(name=name).down()


def run(options):
    lab = the_lab(options)
    words = options.words[1:] if options.words[:1] == ["--"] else options.words
    if not words or options.words[0].startswith("-") and options.words[0] != "--":
        raise LabError(f"no command was named; write lab run [--name NAME] {options.host} -- COMMAND...")
    command = lab.command(options.host, words)
    os.execvpe(command[0], command, lab.environment())


def measure(options):
    rows = check.check(the_lab(options), options.source, options.target, options.seconds)
    print(json.dumps(rows, indent=2) if options.json else check.table(rows))


def change(options):
    changes = {name: getattr(options, name)
               for name in ("loss", "rate", "flow_rate", "mtu", "congestion", "ssh")
               if getattr(options, name) is not None}
    if options.cut or options.heal:
        changes["cut"] = options.cut
    if not changes:
        raise LabError("nothing to set was named; see lab set --help")
    the_lab(options).set(options.host, options.rail, **changes)


def counters(options):
    counted = the_lab(options).counters(options.host)
    if options.json:
        print(json.dumps(counted, indent=2))
        return
    print(f"{'':12}{'received bytes':>18}{'packets':>12}{'sent bytes':>18}{'packets':>12}{'dropped':>10}")
    for name, values in counted.items():
        print(f"{name:12}{values['received_bytes']:>18}{values['received_packets']:>12}"
              f"{values['sent_bytes']:>18}{values['sent_packets']:>12}{values['dropped']:>10}")


def guard(options):
    """Waits until the process that made a lab says "done" or dies. If it dies, the guard removes the lab."""
    if sys.stdin.read() != "done":
        Lab(name=options.host).down()


def parser():
    main_parser = argparse.ArgumentParser(prog="lab",
                                          description="several hosts on one machine, by network namespaces")
    commands = main_parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name, function, text):
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(function=function)
        added.add_argument("--name", help="which lab; otherwise LANYARD_LAB, or the only one there is")
        return added

    made = add("up", up, "make a lab; prints its name if --name gives none")
    made.add_argument("--hosts", type=positive, default=2)
    made.add_argument("--rails", type=positive, default=1, help="switches that every host hangs on")
    made.add_argument("--rate", default="none", help="of every link, both ways: 100mbit, 1gbit, none")
    made.add_argument("--mtu", type=positive, default=1500)
    made.add_argument("--queue", type=positive, metavar="BYTES",
                      help="of the switch's port towards a host; 2 ms of the rate otherwise")
    made.add_argument("--burst", type=positive, metavar="BYTES",
                      help="what passes at once; 1 ms of the rate otherwise")
    made.add_argument("--flow-rate", metavar="RATE", help="cap of each flow")
    add("down", down, "remove a lab with all that runs in it").add_argument(
        "--all", action="store_true", help="every lab")
    ran = add("run", run, "run a command in a host")
    ran.add_argument("host")
    ran.add_argument("words", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    add_check(add("check", measure, "measure what bare TCP and UDP reach between two hosts"))
    add_set(add("set", change, "change links (of all hosts and rails, unless named) and hosts"))
    reset = add("reset",
                lambda options: print(the_lab(options).reset(options.host, options.port, options.peer)),
                "reset a host's established TCP connections; prints how many")
    reset.add_argument("host")
    reset.add_argument("--port", type=positive, help="only those with this port at either end")
    reset.add_argument("--peer", metavar="HOST", help="only those to this host")
    for name, text in (("twin", "add docker0 with 172.17.0.1/16"),
                       ("dead", "add an interface whose other end drops everything")):
        trap = add(name, lambda options, name=name: getattr(the_lab(options), name)(*options.hosts), text)
        trap.add_argument("hosts", nargs="+", metavar="HOST")
    counted = add("counters", counters, "bytes and packets of each interface of a host")
    counted.add_argument("host")
    counted.add_argument("--json", action="store_true")
    relay = add("relay", relay_command.serve, relay_command.__doc__.splitlines()[0])
    relay.add_argument("--target", required=True, metavar="ADDRESS:PORT",
                       help="where each connection goes on to")
    relay.add_argument("--listen", default="127.0.0.1:0", metavar="ADDRESS:PORT")
    relay.add_argument("--seed", type=int, metavar="N",
                       help="random troubles from this seed; 0 chooses one and prints it")
    hidden = commands.add_parser("guard")  # not in the help, because only network.py starts it
    hidden.set_defaults(function=guard)
    hidden.add_argument("host", metavar="NAME")
    return main_parser


def add_check(checked):
    checked.add_argument("--from", dest="source", default="h1", metavar="HOST")
    checked.add_argument("--to", dest="target", default="h2", metavar="HOST")
    checked.add_argument("--seconds", type=float, default=1.0,
                         help="of the bulk stream; the other tests take a quarter each")
    checked.add_argument("--json", action="store_true")


def add_set(changed):
    changed.add_argument("--host")
    changed.add_argument("--rail", type=positive)
    changed.add_argument("--loss", help="share of packets lost each way: 1%%, 0.001, 0")
    changed.add_argument("--rate")
    changed.add_argument("--flow-rate", metavar="RATE")
    changed.add_argument("--mtu", type=positive)
    cable = changed.add_mutually_exclusive_group()
    cable.add_argument("--cut", action="store_true",
                       help="frames are lost both ways; the host keeps its carrier")
    cable.add_argument("--heal", action="store_true")
    changed.add_argument("--congestion", metavar="NAME", help="bbr, cubic, reno")
    changed.add_argument("--ssh", choices=MODES, help="how the stand-in for ssh answers for the host")


def main(words):
    options = parser().parse_args(words)
    try:
        options.function(options)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    return 0
