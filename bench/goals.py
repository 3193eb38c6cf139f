"""What Lanyard promises of its speed, and whether the measured series keep it; used by bench/run for its first table."""
from math import exp, log

import mpi4py_suite
import proof
import rails
import routes
from figures import paired_difference, paired_ratio, summary
from report import best_other, marked, number, size_name, with_interval


# From good to bad. Where the 95 % interval of a figure crosses the bound the run has not decided, and the median is named as what says so.
VERDICTS = ("kept", "kept by the median", "missed by the median", "missed")


def verdict(figures, bound, sign):
    """One of VERDICTS for a median and its interval; a sign of +1 is a figure of which more is better."""
    good, bad = ("high", "low") if sign > 0 else ("low", "high")
    kept = {name: (figures[name] - bound) * sign >= 0 for name in ("median", good, bad)}
    if kept["median"]:
        return "kept" if kept[bad] else "kept by the median"
    return "missed by the median" if kept[good] else "missed"


class Goal:
    """One promise: `row` of the series `part` must be at most (or at least) a fixed value, or `factor` times the best of some others.
    Those `beside` are shown with them and bound nothing, as do those that took another path."""

    own = "lanyard"

    def __init__(self, part, row, sentence, sign, fixed=None, others=("mpich", "impi", "openmpi"), factor=1, beside=()):
        self.part = part
        self.row = row
        self.sentence = sentence
        self.sign = sign  # +1: larger is better
        self.fixed = fixed
        self.others = others
        self.factor = factor
        self.beside = beside

    def judge(self, series, libraries):
        """(ours, bound, words, verdict), each a string for the table."""
        ours = series.numbers("lanyard", self.row)
        if not ours:
            return "no number", "", "", "not measured"
        ours = summary(ours)
        shown = {key: summary(values)["median"] for key in (*self.others, *self.beside) if (values := series.numbers(key, self.row))}
        others = {key: value for key, value in shown.items() if key in self.others and not series.off_path(key)}
        unit = series.units[self.row]
        words = ", ".join(f"{marked(title(key, libraries), series, key)} {number(value)}" for key, value in shown.items())
        if self.fixed is not None:
            bound = self.fixed
        elif others:
            bound = self.factor * (max(others.values()) if self.sign > 0 else min(others.values()))
        else:
            return with_interval(ours) + " " + unit, "", "", "nothing to compare with"
        return f"{with_interval(ours)} {unit}", f"{number(bound)} {unit}", words, verdict(ours, bound, self.sign)


class Each:
    """One promise for every row that `rows` accepts: the figure that `compare` takes from the series keeps the bound; the row with the
    worst verdict is shown, and of those with the same one the worst figure."""

    def __init__(self, part, rows, sentence, sign, bound, compare, unit="", own="lanyard"):
        self.part = part
        self.rows = rows
        self.sentence = sentence
        self.sign = sign
        self.bound = bound
        self.compare = compare
        self.unit = unit
        self.own = own

    def judge(self, series, _libraries):
        found = [(row, figures) for row in series.units if self.rows(row) and (figures := self.compare(series, self.own, row))]
        bound = f"{number(self.bound)}{self.unit}"
        if not found:
            return "no number", bound, "", "not measured"
        verdicts = {row: verdict(figures, self.bound, self.sign) for row, figures in found}
        row, worst = max(found, key=lambda pair: (VERDICTS.index(verdicts[pair[0]]), -pair[1]["median"] * self.sign))
        where = f" at {size_name(row)}" if len(found) > 1 else ""
        return f"{with_interval(worst)}{self.unit}{where}", bound, "", verdicts[row]


class GeometricMean:
    """One promise over all figures of a series: the geometric mean of how many times better we are than the best other library, by rounds."""

    own = "lanyard"

    def __init__(self, part, sentence, bound, rows, others=("mpich", "impi", "openmpi")):
        self.part = part
        self.sentence = sentence
        self.bound = bound
        self.rows = rows
        self.others = others

    def judge(self, series, libraries):
        others = [key for key in self.others if key in libraries]
        ratios = {row: ratio["median"] for row in series.units if self.rows(row) and (ratio := best_other(series, "lanyard", others, row))}
        if not ratios:
            return "no number", f"{number(self.bound)}", "", "not measured"
        mean = exp(sum(log(ratio) for ratio in ratios.values()) / len(ratios))
        lost = [row for row, ratio in ratios.items() if ratio < 1]
        words = f"{len(ratios) - len(lost)} of {len(ratios)} cells are won"
        return f"{number(mean)}", f"{number(self.bound)}", words, "kept" if mean >= self.bound else "missed"


OF_ROUTES = {"tcp": "raw TCP", "udp": "raw UDP", "lanyard-tcp": "Lanyard on TCP"}


def title(key, libraries):
    return OF_ROUTES.get(key) or (libraries[key].title if key in libraries else key)


def itself(series, own, row):
    values = series.numbers(own, row)
    return summary(values) if values else None


def ratio_to(other):
    return lambda series, own, row: paired_ratio(*columns(series, (own, row), (other, row)))


def ratio_to_best(series, own, row):
    """Our time over that of the fastest of the others, by medians."""
    others = {key: summary(values)["median"] for key in series.values if key != own and (values := series.numbers(key, row))}
    return paired_ratio(*columns(series, (own, row), (min(others, key=others.get), row))) if others else None


def times_the_best(series, own, row):
    return best_other(series, own, [key for key in series.values if key != own], row)


def more_than(other):
    return lambda series, own, row: paired_difference(*columns(series, (own, row), (other, row)))


def ratio_to_next_smaller(series, own, row):
    smaller = [size for size in series.units if size < row]
    return paired_ratio(*columns(series, (own, row), (own, max(smaller)))) if smaller else None


def columns(series, *places):
    return [series.values.get(key, {}).get(row, []) for key, row in places]


def named(*names):
    return lambda row: (row[0] if isinstance(row, tuple) else row) in names


def ratio_to_row(other):
    return lambda series, own, row: paired_ratio(*columns(series, (own, row), (own, other)))


def sizes_from(least, name=None):
    """The rows of sizes from `least` on, of the quantity `name` where rows have one."""
    def accepts(row):
        quantity, size = row if isinstance(row, tuple) else (None, row)
        return quantity == name and isinstance(size, int) and size >= least
    return accepts


def eight_bytes(row):
    return row == 8


def any_row(_row):
    return True


NETWORK_GOALS = [
    Each("tcp-latency", lambda row: row == 8, "TCP, 8 bytes, half round trip over raw TCP's, at most", -1, 1.10, ratio_to("tcp")),
    Each("tcp-bandwidth", lambda row: row >= 65536, "TCP, bandwidth from 64 KiB over raw TCP's, at least", +1, 0.95, ratio_to("tcp")),
    *(Goal("tcp-bandwidth", size, f"TCP, bandwidth at {size_name(size)}, at least the best of the others", +1)
      for size in (65536, 262144, 1 << 20, 1 << 22)),
    Goal("tcp-allreduce", 8, "TCP, allreduce of 8 bytes, 8 ranks, at most half the better of MPICH and Open MPI", -1,
         others=("mpich", "openmpi"), factor=0.5, beside=("impi", "tcp")),
    Each("tcp-checksum", any_row, "TCP, bandwidth from 64 KiB with LANYARD_CHECKSUM=on over raw TCP's, at least", +1, 0.75, ratio_to("tcp"),
         own="checksum=on"),
    *(Goal(part, "all ranks wait", f"{way}, processor use of 8 ranks that wait, mpirun and helpers included, at most", -1, fixed=1)
      for part, way in (("idle", "shared memory"), ("tcp-idle", "TCP"))),
    *(Each("peer-memory", named(row), f"TCP, 63 quiet peers, {words}, for each at most", -1, 1024, itself, " B")
      for row, words in (("allocated", "memory by the allocator's counters"), ("resident", "growth of private pages"))),
    Goal("start-16", "startup of 16 ranks", "16 ranks of MPI_Init and MPI_Finalize, at most", -1, fixed=150),
    Each("lab-bandwidth", lambda row: row >= 1024, "1 Gbit/s, bandwidth from 1 KiB, at least", +1, 0.112, itself, " GB/s"),
    Each("lab-bandwidth", lambda row: row >= 65536, "1 Gbit/s, bandwidth of raw TCP from 64 KiB, which shows that the link "
         "has its rate, at least", +1, 0.107, itself, " GB/s", own="tcp"),
    Each("rails", lambda row: row.startswith("first message"), "several interfaces, a dead one and a twin's among them, "
         "first message after MPI_Init, at most", -1, 300, itself, " ms"),
    Each("rails", lambda row: row == f"bulk {rails.EVERY}", "the same, 64 MiB, rate over that of the fast one alone, "
         "at least", +1, 0.93, ratio_to_row(f"bulk {rails.ALONE}")),
    Each("lab-bandwidth", any_row, "1 Gbit/s, bandwidth over that of the next smaller size, at least", +1, 1 / 1.03, ratio_to_next_smaller),
    *(Each(f"overlap-{side}", named(f"{side} wait share"), f"1 Gbit/s, {side}: wait after the work, share of the transfer alone, at most",
           -1, 5, itself, " %") for side in ("receive", "send")),
    *(Each(f"overlap-{side}", named(f"{side} work slowed"), f"1 Gbit/s, {side}: work slowed more than by a raw thread in epoll, at most",
           -1, 1, more_than("tcp"), " %") for side in ("receive", "send")),
    *(Each(f"overlap-{name}", named(f"{name} overlap"), f"1 Gbit/s, MPI_I{name} from 64 KiB while the ranks work: overlap, at least",
           +1, 90, itself, " %") for name in ("alltoall", "allreduce")),
    *(Each("progress", any_row, f"blocking latency with LANYARD_PROGRESS={value} over caller, at most", -1, 1.03,
           ratio_to("progress=caller"), own=f"progress={value}") for value in ("auto", "helper")),
    Each("probe", named("nothing from a rank", "nothing from anyone"), "TCP, an MPI_Iprobe that finds nothing, at most", -1, 60, itself, " ns"),
    Each("unexpected", named("memory"), "TCP, a million unexpected messages, memory for each (64 B and its share of 512 KiB of credit), at most",
         -1, 64 + 512 * 1024 / 1e6, itself, " B"),
    Each("probe", named("probed", "found"), "TCP, until a loop of MPI_Iprobe sees a message, at most", -1, 20, itself, " us"),
]
DATAGRAM_GOALS = [
    Each("dgram-latency", eight_bytes, "datagrams on loopback, 8 bytes, half round trip over raw UDP's, at most", -1, 1.25, ratio_to("udp")),
    *(Each(part, eight_bytes, f"datagrams {where}, 8 bytes, half round trip over that on TCP, at most", -1, 1, ratio_to("lanyard-tcp"))
      for part, where in (("dgram-latency", "on loopback"), ("dgram-latency-1gbit", "at 1 Gbit/s"))),
    Goal("dgram-rate", 8, "datagrams on loopback, rate of 8-byte messages, at least 5 times that of the best of the others on TCP", +1, factor=5,
         beside=("lanyard-tcp",)),
    Each("dgram-bandwidth", sizes_from(8192), "datagrams at 1 Gbit/s, bandwidth from 8 KiB over raw TCP's, at least", +1, 0.95, ratio_to("tcp")),
    Each("dgram-bandwidth", sizes_from(8192, "share of the line"), "the same, share of the line's bits, of which headers leave 95.7 %, at least", +1,
         95, itself, " %"),
    *(Each("dgram-loss", lambda row, loss=loss: row[1] == loss, f"datagrams at 1 Gbit/s, loss of {loss} % each way, bandwidth of 1 MiB over that "
           "without loss, at least", +1, bound, ratio_to_row(("1 MiB", 0))) for loss, bound in ((0.1, 0.95), (1, 0.9), (5, 0.8))),
    *(Each("dgram-loss", lambda row: row[1] > 0, f"the same at any loss, over that of TCP with {congestion}, at least", +1, 1,
           ratio_to(f"lanyard-{congestion}")) for congestion in routes.CONGESTIONS),
    Each("dgram-loss-latency", lambda row: row[1] == 1, "datagrams at 1 Gbit/s, loss of 1 % each way, 1 KiB, 99th percentile of half a round trip, "
         "at most", -1, 5000, itself, " us"),
    *(Each("dgram-switch", sizes_from(1, f"{name}, share of the line"), f"datagrams, 8 hosts and a switch of 128 KiB a port, {name} of 64 KiB, share "
           "of a port's bits, at least", +1, 85, itself, " %") for name in ("gather", "alltoall")),
    Each("dgram-switch", named("given up by probe"), "the same, packets given up as nothing came, at most", -1, 0, itself),
    Each("dgram-peers", lambda row: row == 256, "datagrams on loopback, 64 ranks with 48 peers each, rate of 256-byte messages over that on TCP, at "
         "least", +1, 1.3, ratio_to("lanyard-tcp")),
    Each("dgram-peers", named("resident, busy", "resident, quiet"), "the same, memory of a process over that on TCP, at most", -1,
         0.25, ratio_to("lanyard-tcp")),
    Each("kernels-dgram-1gbit", lambda row: not row.endswith(" in MPI"), "datagrams at 1 Gbit/s, 4 ranks, kernels and patterns of class A: whole "
         "time over that on TCP, at most", -1, 1.03, ratio_to("lanyard-tcp")),
    Each("dgram-memory", named("dgram, talked to of 16384"), "datagrams, memory for each of 16,384 processes, talked to or not, at most", -1,
         0.44 * 1024, itself, " B"),
    Each("dgram-memory", named("dgram, talked to, allocated"), "the same by the allocator's counters of a real rank, for each that was talked to, at "
         "most", -1, 0.44 * 1024, itself, " B"),
    Each("dgram-memory", named("dgram, all of 16384"), "datagrams, memory for 16,384 processes in all, at most", -1, 16e6, itself, " B"),
]
GOALS = [
    Goal("line", "mpi - line", "8 bytes, half round trip above a bounced cache line, at most", -1, fixed=75),
    Goal("rate", 8, "rate of 8-byte messages, at least 1.2 times that of the best of the others", +1, factor=1.2),
    Goal("bandwidth", 1 << 20, "1 MiB bandwidth, window of 64, at least the best of the others", +1),
    Goal("bandwidth-reuse", 1 << 20, "the same with one receive buffer for the whole window", +1),
    Goal("allreduce", 8, "allreduce of 8 bytes, 8 ranks, at most the best of the others", -1),
    Goal("allreduce", 8, "the same, at most 0.6 of the best of the others", -1, factor=0.6),
    Goal("allreduce", 8, "the same against Intel MPI set to wait", -1, others=("impi-wait",)),
    Goal("startup", "startup of 4 ranks", "4 ranks of MPI_Init and MPI_Finalize, at most", -1, fixed=60),
    Goal("start-nothing", "startup of 4 processes without MPI", "4 processes that do nothing, at most", -1, fixed=30),
    Each("endings", any_row, "from a death in a job, or a host that refuses, to the end of mpirun, at most", -1, 2000,
         itself, " ms"),
    Goal("scan", "poll with 64 idle peers", "a look at 64 idle peers in shared memory, at most", -1, fixed=40),
    *(Goal("rate-threads", (f"{threads} thread{'s' if threads > 1 else ''}", 8),
           f"message rate of 8 bytes, {threads} threads of each rank, above the best of the others", +1) for threads in (1, 2, 4, 8)),
    Each("schedule", any_row, "writing the schedule of an allreduce of 8 bytes, 4 ranks, at most", -1, 300, itself, " ns"),
    *(Each("abi-cost", named(row), f"{row} by libmpi.so.12, more than by libmpi_abi.so.1, at most", -1, 15, more_than("lanyard"), " ns",
           own="mpich-abi") for row in ("MPI_Comm_rank", "send and receive to oneself")),
    GeometricMean("bandwidth-sizes", "bandwidth from 16 KiB to 16 MiB over that of the best of the others, geometric mean, at least", 1.15, any_row),
    Each("bandwidth-sizes", any_row, "the same at any size, at least", +1, 0.95, times_the_best),
    *(GeometricMean(f"collectives-{ranks}", f"{ranks} ranks, blocking collectives from 8 bytes to 1 MiB, best other over ours, geometric mean, "
                    "at least", 1, lambda row: row[0] != "iallreduce") for ranks in (2, 4, 8)),
    *(Each(f"collectives-{ranks}", lambda row: row == ("iallreduce", 8), f"{ranks} ranks, nonblocking allreduce of 8 bytes over the blocking one, "
           "at most", -1, 1.3, ratio_to_row(("allreduce", 8))) for ranks in (2, 4, 8)),
    Each("posted-tcp", named("late"), "TCP, receives posted late, LANYARD_WRITE_PROTOCOL=on over off, at most", -1, 1.02,
         ratio_to("first-bytes=262144+write-protocol=off"), own="first-bytes=262144+write-protocol=on"),
    *(goal for part, way, bound in (("kernels", "shared memory", 0.8), ("kernels-tcp", "TCP", 0.7)) for ranks in (2, 4) for goal in (
        GeometricMean(f"{part}-{ranks}", f"{ranks} ranks, {way}, kernels of class A: best other's time in MPI over ours, geometric mean, at least",
                      1 / bound, lambda row: row.endswith(" in MPI")),
        Each(f"{part}-{ranks}", lambda row: not row.endswith(" in MPI"), f"{ranks} ranks, {way}, kernels of class A: our whole time over the "
             "best other's, at most", -1, 1.02, ratio_to_best))),
    *(goal for ranks in (2, 3) for goal in (
        Goal(f"mpi4py-{ranks}", "wall time", f"mpi4py's own tests, {ranks} ranks, wall time, at most the better of MPICH and Open MPI", -1,
             others=("mpich", "openmpi")),
        Goal(f"mpi4py-{ranks}", "failed", f"mpi4py's own tests, {ranks} ranks, failed, at most", -1, fixed=0, others=("mpich", "openmpi")),
        Goal(f"mpi4py-{ranks}", mpi4py_suite.SKIPPED_ALONE, f"mpi4py's own tests, {ranks} ranks, {mpi4py_suite.SKIPPED_ALONE}, at most", -1,
             fixed=0))),
    *NETWORK_GOALS,
    *DATAGRAM_GOALS,
]


def table(all_series, libraries):
    lines = ["| goal | Lanyard, median (95 % interval) | bound | the others | verdict |", "|---|---|---|---|---|"]
    for goal in GOALS:
        if goal.part in all_series and "lanyard" in libraries:
            series = all_series[goal.part]
            ours, bound, words, judgement = goal.judge(series, libraries)
            if series.off_path(goal.own):
                judgement = proof.MARK
            lines.append(f"| {goal.sentence} | {ours} | {bound} | {words} | {judgement} |")
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""
