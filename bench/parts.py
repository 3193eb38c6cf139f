"""Lists the series of bench/run and their groups: for each series the program, ranks, rounds and
arguments."""
import endings
import hpcc
import idle
import imb
import measure
import mpi4py_suite
import peers
import rails
import routes


class Part:
    """One series: a program with its ranks and arguments, the number of rounds, and its approximate duration.

    A part may have a route and a sweep (see routes.py), or measure Lanyard alone. Each run is repeated with
    the link at each of the loss rates `losses`. `of_line` adds figures as shares of a line of 1 Gbit/s, and
    `packets` adds the counts of packets.
    """

    def __init__(self, name, program, ranks, rounds, arguments, seconds, route=None, sweep=None, alone=False,
                 grid=False, threaded=False, losses=(), of_line=False, packets=False):
        self.name = name
        self.program = program
        self.ranks = ranks
        self.rounds = rounds
        self.arguments = arguments
        self.seconds = seconds
        self.route = route
        self.sweep = sweep
        self.alone = alone or sweep is not None
        self.threaded = threaded
        self.losses = losses
        self.of_line = of_line
        self.packets = packets
        self.grid = grid  # the table has one line for each figure, with all libraries side by side
        self.outcomes = {}  # outcomes of mpi4py's tests, by library
        self.path = None    # of a program in OUTSIDE

    def choose(self, libraries):
        """Returns the libraries that take part."""
        if self.alone:
            libraries = {key: library for key, library in libraries.items() if key == "lanyard"}
        if self.program == "abi-cost" and libraries:
            return {key: routes.changed(libraries["lanyard"], key=key, title=title)
                    for key, (title, _) in DOORS.items()}
        if self.program == "mpi4py":
            return mpi4py_suite.choose(libraries)
        if self.program in OUTSIDE:
            if "lanyard" not in libraries:
                return {}
            self.path = OUTSIDE[self.program].program(libraries)
            libraries = {key: library for key, library in libraries.items() if key != "openmpi"}
        return peers.with_oversubscribed_settings(libraries) if self.ranks > peers.processors() else libraries

    def measure_once(self, library, build):
        if self.program == "startup":
            return measure.run_timed(library, self.ranks)
        if self.program == "true":
            return measure.run_nothing(library, self.ranks)
        if self.program == "endings":
            return endings.run_endings(library)
        if self.program == "rails":
            return rails.run_rails(library)
        if self.program == "idle":
            return idle.run_idle(library, self.ranks)
        if self.program == "mpi4py":
            return mpi4py_suite.run_suite(library, self.ranks, self.outcomes)
        if self.program in OUTSIDE:
            return OUTSIDE[self.program].run(library, self.ranks, self.path)
        if self.program in OWN:
            return measure.run_own(library, [build / "bin" / self.own_program(library.key), "--json"])
        if self.program == "memory":
            return measure.run_own(library, [library.programs / "bench-memory", *self.arguments, "--json"])
        if self.losses:
            return measure.run_at_losses(library, self.losses, lambda: self.run(library))
        return self.run(library)

    def run(self, library):
        """Runs an MPI program, or raw TCP or UDP instead."""
        # The policy is the same for all libraries: each rank gets its own processor if there are enough.
        # Otherwise the libraries choose.
        pin = (["--pin"] if self.ranks <= peers.processors() and self.program != "line" and not self.threaded
               else [])
        run = measure.run_profiled if self.packets and library.key == "lanyard" else measure.run_json
        version, rows = run(library, self.ranks, self.program, [*self.arguments, *pin])
        if self.program == "applications":  # operations per second say the same as the time
            for name in [name for name, (_, unit) in rows.items() if unit != "s"]:
                del rows[name]
        if self.of_line:
            measure.add_shares_of_line(rows, self.ranks)
        return version, rows

    def pictured(self):
        """Returns whether RESULTS.md has a picture of this part."""
        return not self.grid and self.program not in ("mpi4py", "memory", "many", "collectives", "endings",
                                                      "rails", *OWN, *OUTSIDE)

    def own_program(self, key):
        return DOORS[key][1] if self.program == "abi-cost" else self.program


# Programs that others wrote, with their modules. They are compiled for ABIs that Open MPI does not have.
OUTSIDE = {"imb": imb, "hpcc": hpcc}
OWN = ("scan-idle", "schedule-cost", "abi-cost")  # programs for Lanyard alone, which are not installed
# For abi-cost, these take the place of the libraries: Lanyard with the standard's ABI and with MPICH's, each
# with its library and program.
DOORS = {"lanyard": ("libmpi_abi.so.1", "mpi-cost"), "mpich-abi": ("libmpi.so.12", "mpich-cost")}
TEN = ["--blocks", "10"]
PARTS = [
    Part("line", "line", 2, 9, [], 150),
    Part("latency", "latency", 2, 15, [*TEN, "--sizes", "8,64,1k,8k,64k,1M"], 200),
    Part("rate", "rate", 2, 15, TEN, 100),
    Part("bandwidth", "bandwidth", 2, 15, [*TEN, "--sizes", "8k,64k,1M,4M"], 200),
    Part("bandwidth-sizes", "bandwidth", 2, 9, [*TEN, "--sizes", "8-16M"], 500, grid=True),
    Part("bandwidth-reuse", "bandwidth", 2, 9, [*TEN, "--sizes", "64k,1M", "--reuse"], 80),
    Part("allreduce", "allreduce", 8, 15, [*TEN, "--sizes", "8,1k"], 200),
    Part("barrier", "barrier", 8, 9, TEN, 90),
    Part("startup", "startup", 4, 7, [], 30),
    Part("start-nothing", "true", 4, 7, [], 30),
    Part("endings", "endings", 3, 3, [], 100, alone=True),
    Part("scan", "scan-idle", 1, 15, [], 10, alone=True),
    Part("schedule", "schedule-cost", 1, 15, [], 10, alone=True),
    Part("abi-cost", "abi-cost", 1, 15, [], 15, alone=True),
]
# This part may have more threads than processors. No rank is pinned then, so that all libraries run alike.
THREADS = Part("rate-threads", "rate", 2, 15, [*TEN, "--threads", "1,2,4,8"], 600, threaded=True)
COLLECTIVES = [Part(f"collectives-{ranks}", "collectives", ranks, 5, [], seconds, grid=True)
               for ranks, seconds in ((2, 200), (4, 300), (8, 500))]
MPI4PY = [Part(f"mpi4py-{ranks}", "mpi4py", ranks, 3, [], 420) for ranks in (2, 3)]
# Each with 2 and 4 ranks, in shared memory and over TCP.
IMB, HPCC = ([Part(f"{name}-{'tcp-' if route else ''}{ranks}", name, ranks, 5, [], 450, route=route,
                   grid=name == "imb")
              for route in (None, "tcp") for ranks in (2, 4)] for name in OUTSIDE)
# The kernels on all libraries, and on Lanyard with several settings on all routes.
KERNELS = ["--parts", "ep,mg,cg,ft,is", "--class", "A"]
SETTINGS = "progress=caller,helper+write-protocol=off,on"
APPLICATIONS = [
    *(Part(f"kernels-{'tcp-' if route else ''}{ranks}", "applications", ranks, 5, KERNELS, 300,
           route=route, grid=True)
      for route in (None, "tcp") for ranks in (2, 4)),
    *(Part(f"kernels-{route}-{ranks}", "applications", ranks, 3, KERNELS, 300, route=route, grid=True)
      for route in ("1gbit", "10gbit") for ranks in (2, 4)),
    Part("profile-cost", "applications", 2, 15, ["--parts", "mg,cg,ft,is,wavefront", "--class", "W"], 150,
         sweep="profile=off,on", grid=True),
    *(Part(f"kernels-settings-{route or 'shm'}-{ranks}", "applications", ranks, 3, KERNELS, 200, route=route,
           sweep=SETTINGS, grid=True)
      for route in (None, "tcp", "1gbit", "10gbit") for ranks in (2, 4)),
]
# The write protocol, and offers with and without first bytes of the message.
POSTED = [Part(f"posted-{route}", "posted", 2, rounds, [*TEN, "--sizes", "65k,128k,256k,512k,1M"],
               15 * rounds, route=route, sweep="first-bytes=0,262144+write-protocol=off,auto,on")
          for route, rounds in (("tcp", 15), ("1gbit", 5), ("10gbit", 5))]
LINK = "1gbit"
# Each block is longer than a burst of the lab's link.
STREAM = ["--blocks", "5", "--block-seconds", "0.05", "--window", "16"]
NETWORK = [  # the most important parts come first: a run that is cut short has measured these
    Part("tcp-latency", "latency", 2, 15, [*TEN, "--sizes", "8,64,1k,8k,64k,1M,4M"], 220, route="tcp"),
    Part("tcp-bandwidth", "bandwidth", 2, 9, [*TEN, "--sizes", "1k,8k,64k,256k,1M,4M"], 230, route="tcp"),
    Part("lab-bandwidth", "bandwidth", 2, 9, [*STREAM, "--sizes", "1k-4M"], 560, route=LINK),
    *(Part(f"overlap-{part}", "overlap", 2, 3, ["--parts", part], 480, route=LINK)
      for part in ("receive", "send")),
    Part("progress", "latency", 2, 50, [*TEN, "--sizes", "8,1k,64k"], 130, route="tcp", sweep="progress"),
    Part("tcp-allreduce", "allreduce", 8, 9, [*TEN, "--sizes", "8"], 100, route="tcp"),
    Part("probe", "probe", 2, 15, TEN, 90, route="tcp"),
    Part("idle", "idle", 8, 2, [], 130),
    Part("tcp-idle", "idle", 8, 2, [], 130, route="tcp"),
    Part("unexpected", "unexpected", 2, 3, [], 10, route="tcp", alone=True),
    Part("peer-memory", "peers", 65, 5, [], 30, route="tcp", alone=True),
    Part("start-16", "startup", 16, 7, [], 60),
    Part("connect", "connect", 16, 9, [], 25, route="tcp", sweep="connect"),
    Part("tcp-checksum", "bandwidth", 2, 9, [*TEN, "--sizes", "64k,256k,1M,4M"], 60, route="tcp",
         sweep="checksum"),
    *(Part(f"tcp-bandwidth-{mtu}", "bandwidth", 2, 7, [*TEN, "--sizes", "1k,8k,64k,1M"], 80,
           route=f"tcp-{mtu}")
      for mtu in (1500, 9000)),
    Part("beside", "latency", 2, 7, [*TEN, "--sizes", "8", "--beside", "16M"], 50, route="tcp"),
    Part("lab-latency", "latency", 2, 5, [*TEN, "--sizes", "8,1k,8k,64k,1M"], 65, route=LINK),
    Part("unidirectional", "unidirectional", 2, 5, [*TEN, "--sizes", "1k,16k,64k,1M"], 110, route="tcp"),
    Part("eager-limit", "latency", 2, 5, [*TEN, "--sizes", "1k-64k"], 60, route="tcp", sweep="eager-limit"),
    *(Part(f"overlap-{part}", "overlap", 2, 3, ["--parts", part, "--sizes", "64k,256k,1M,4M"], 100,
           route=LINK)
      for part in ("alltoall", "allreduce")),
    Part("rails", "rails", 2, 3, [], 15, alone=True),
]
# The datagram path compared with TCP: on loopback, on two hosts of a lab, on a link that loses packets, and
# behind a switch.
PATTERNS = ["--parts", "is,ft,cg,mg,wavefront,panels", "--class", "A"]
DATAGRAMS = [
    Part("dgram-latency", "latency", 2, 15, [*TEN, "--sizes", "8,64,1k,8k,32k"], 100, route="dgram",
         alone=True),
    Part("dgram-rate", "rate", 2, 15, TEN, 120, route="dgram"),
    Part("dgram-bandwidth", "bandwidth", 2, 5, [*STREAM, "--sizes", "1k,4k,8k,16k,64k,256k,1M,4M"], 150,
         route="dgram-1gbit", alone=True, of_line=True),
    Part("dgram-latency-1gbit", "latency", 2, 9, [*TEN, "--sizes", "8,1k,8k,64k"], 40, route="dgram-1gbit",
         alone=True),
    Part("dgram-loss", "bandwidth", 2, 3,
         ["--blocks", "5", "--block-seconds", "0.3", "--window", "16", "--sizes", "1M"], 240,
         route="dgram-lossy", alone=True, losses=(0, 0.1, 1, 5)),
    Part("dgram-loss-latency", "latency", 2, 3,
         ["--blocks", "3", "--block-seconds", "1", "--sizes", "1k", "--percentile", "99"], 130,
         route="dgram-lossy", alone=True, losses=(0, 1)),
    Part("dgram-switch", "collectives", 8, 5,
         ["--blocks", "10", "--block-seconds", "0.1", "--parts", "gather,alltoall", "--sizes", "64k"], 90,
         route="dgram-switch", alone=True, of_line=True, packets=True),
    Part("dgram-peers", "many", 64, 5, TEN, 110, route="dgram", alone=True),
    Part("kernels-dgram-1gbit", "applications", 4, 5, PATTERNS, 250, route="dgram-1gbit", alone=True,
         grid=True),
    Part("dgram-progress", "applications", 2, 3, PATTERNS, 170, route="dgram",
         sweep="dgram-progress=engine,thread,hybrid", grid=True),
    Part("dgram-memory", "memory", 1, 3, ["--ranks", "65"], 40, alone=True),
]
NAMES = ["limits", "instructions"] + [part.name for part in PARTS]
NETWORK_NAMES = [part.name for part in NETWORK]
ALL_PARTS = [*PARTS, THREADS, *COLLECTIVES, *MPI4PY, *IMB, *HPCC, *APPLICATIONS, *POSTED, *NETWORK,
             *DATAGRAMS]
# Some figures of a network are compared with figures of shared memory. These are measured in the same group.
GROUPS = {"collectives": ["schedule", *(part.name for part in COLLECTIVES)], "threads": [THREADS.name],
          "mpi4py": [part.name for part in MPI4PY], "imb": [part.name for part in IMB],
          "hpcc": [part.name for part in HPCC], "applications": [part.name for part in APPLICATIONS],
          "posted": [part.name for part in POSTED],
          "datagrams": [part.name for part in DATAGRAMS],
          "network": [*NETWORK_NAMES[:7], "allreduce", *NETWORK_NAMES[7:]],
          "overlap": [name for name in NETWORK_NAMES if name.startswith("overlap-")]}
# Series that bench/RESULTS.md (page.py) shows in another section than the lists above say.
SECTIONS = {"schedule": "collectives", "abi-cost": "abi",
            **dict.fromkeys([*GROUPS["posted"], *GROUPS["imb"], *GROUPS["hpcc"]], "applications")}


def section_of(name):
    """Returns the group under which bench/RESULTS.md shows a series."""
    shared = ["limits", "instructions", *(part.name for part in PARTS)]
    groups = {"threads": GROUPS["threads"], "collectives": GROUPS["collectives"], "mpi4py": GROUPS["mpi4py"],
              "applications": GROUPS["applications"], "datagrams": GROUPS["datagrams"],
              "network": NETWORK_NAMES}
    found = [group for group, names in groups.items() if name in names]
    return SECTIONS.get(name) or (found[0] if found else "shared memory" if name in shared else "")
