"""Lists the goals of Lanyard's performance, and judges whether measured series keep them.

Used by bench/run and page_tables.py. A goal is a sentence, a bound, and a row of a series (judging.py). The
sentence is written so that the bound can follow it.
"""
import machine_state
import mpi4py_suite
import proof
import rails
import routes
from judging import (VERDICTS, Each, GeometricMean, Goal, SmallestMean, any_row, eight_bytes, itself,
                     more_than, named, ratio_to, ratio_to_best, ratio_to_next_smaller, ratio_to_row,
                     sizes_from, times_the_best, verdict)
from tables import size_name

__all__ = ["DATAGRAM_GOALS", "GOALS", "NETWORK_GOALS", "VERDICTS", "GeometricMean", "SmallestMean",
           "any_row", "judged", "named", "table", "verdict"]


def total_time(row):
    """Returns whether a row of kernels is a total time and not a time in MPI."""
    return " in MPI" not in row


def time_in_mpi(row):
    return row.endswith(" in MPI")


def time_in_mpi_of_more_than_ep(row):
    """EP only adds up three numbers at its end, so its time in MPI is a wait for the slowest rank."""
    return time_in_mpi(row) and not row.startswith("ep.")


def threads(number):
    return "1 thread" if number == 1 else f"{number} threads"


NETWORK_GOALS = [
    Each("tcp-latency", eight_bytes, "TCP, 8 bytes, half round trip over raw TCP's, at most", -1, 1.10,
         ratio_to("tcp")),
    Each("tcp-bandwidth", sizes_from(65536), "TCP, bandwidth from 64 KiB over raw TCP's, at least", +1, 0.95,
         ratio_to("tcp")),
    *(Goal("tcp-bandwidth", size, f"TCP, bandwidth at {size_name(size)}, at least the best of the others", +1)
      for size in (65536, 262144, 1 << 20, 1 << 22)),
    Goal("tcp-allreduce", 8,
         "TCP, allreduce of 8 bytes, 8 ranks, at most half the better of MPICH and Open MPI",
         -1, others=("mpich", "openmpi"), factor=0.5, beside=("impi", "tcp")),
    Each("tcp-checksum", any_row,
         "TCP, bandwidth from 64 KiB with LANYARD_CHECKSUM=on over raw TCP's, at least",
         +1, 0.75, ratio_to("tcp"), own="checksum=on"),
    *(Goal(part, "all ranks wait", f"{way}, processor use of 8 ranks that wait, mpirun and helpers included, "
           "at most", -1, fixed=1)
      for part, way in (("idle", "shared memory"), ("tcp-idle", "TCP"))),
    *(Each("peer-memory", named(row), f"TCP, 63 quiet peers, {words}, for each at most", -1, 1024, itself,
           " B")
      for row, words in (("allocated", "memory by the allocator's counters"),
                         ("resident", "growth of private pages"))),
    Goal("start-16", "startup of 16 ranks", "16 ranks of MPI_Init and MPI_Finalize, at most", -1, fixed=150),
    Each("lab-bandwidth", sizes_from(1024), "1 Gbit/s, bandwidth from 1 KiB, at least", +1, 0.112, itself,
         " GB/s"),
    Each("lab-bandwidth", sizes_from(65536), "1 Gbit/s, bandwidth of raw TCP from 64 KiB, which shows that "
         "the link has its rate, at least", +1, 0.107, itself, " GB/s", own="tcp"),
    Each("rails", lambda row: row.startswith("first message"), "several interfaces, a dead one and a twin's "
         "among them, first message after MPI_Init, at most", -1, 300, itself, " ms"),
    Each("rails", lambda row: row == f"bulk {rails.EVERY}", "several interfaces, 64 MiB, rate over that of "
         "the fast one alone, at least", +1, 0.93, ratio_to_row(f"bulk {rails.ALONE}")),
    Each("lab-bandwidth", any_row, "1 Gbit/s, bandwidth over that of the next smaller size, at least", +1,
         1 / 1.03, ratio_to_next_smaller),
    *(Each(f"overlap-{side}", named(f"{side} wait share"), f"1 Gbit/s, {side}: wait after the work, share of "
           "the transfer alone, at most", -1, 5, itself, " %") for side in ("receive", "send")),
    *(Each(f"overlap-{side}", named(f"{side} work slowed"), f"1 Gbit/s, {side}: work slowed more than by a "
           "raw thread in epoll, at most", -1, 1, more_than("tcp"), " %") for side in ("receive", "send")),
    *(Each(f"overlap-{name}", named(f"{name} overlap"), f"1 Gbit/s, MPI_I{name} from 64 KiB while the ranks "
           "work: overlap, at least", +1, 90, itself, " %") for name in ("alltoall", "allreduce")),
    *(Each("progress", any_row, f"blocking latency with LANYARD_PROGRESS={value} over caller, at most", -1,
           1.03,
           ratio_to("progress=caller"), own=f"progress={value}") for value in ("auto", "helper")),
    Each("probe", named("nothing from a rank", "nothing from anyone"),
         "TCP, an MPI_Iprobe that finds nothing, at most", -1, 60, itself, " ns"),
    Each("unexpected", named("memory"), "TCP, a million unexpected messages, memory for each (64 B and its "
         "share of 512 KiB of credit), at most", -1, 64 + 512 * 1024 / 1e6, itself, " B"),
    Each("probe", named("probed", "found"), "TCP, until a loop of MPI_Iprobe sees a message, at most", -1, 20,
         itself, " us"),
]
# The libraries that run IMB and HPCC, with the settings that some have where ranks outnumber processors.
PEERS = ("mpich", "impi", "impi-wait")
# Where the kernels run beside other libraries.
KERNEL_ROUTES = (("kernels", "shared memory"), ("kernels-tcp", "TCP"), ("kernels-1gbit", "1 Gbit/s"),
                 ("kernels-10gbit", "10 Gbit/s"))
DATAGRAM_GOALS = [
    Each("dgram-latency", eight_bytes,
         "datagrams on loopback, 8 bytes, half round trip over raw UDP's, at most",
         -1, 1.25, ratio_to("udp")),
    *(Each(part, eight_bytes, f"datagrams {where}, 8 bytes, half round trip over that on TCP, at most", -1, 1,
           ratio_to("lanyard-tcp"))
      for part, where in (("dgram-latency", "on loopback"), ("dgram-latency-1gbit", "at 1 Gbit/s"))),
    Goal("dgram-rate", 8, "datagrams on loopback, rate of 8-byte messages, at least 5 times that of the best "
         "of the others on TCP", +1, factor=5, beside=("lanyard-tcp",)),
    Each("dgram-bandwidth", sizes_from(8192), "datagrams at 1 Gbit/s, bandwidth from 8 KiB over raw TCP's, "
         "at least", +1, 0.95, ratio_to("tcp")),
    Each("dgram-bandwidth", sizes_from(8192, "share of the line"), "datagrams at 1 Gbit/s, bandwidth from 8 "
         "KiB, share of the line's bits, of which headers leave 95.7 %, at least", +1, 95, itself, " %"),
    *(Each("dgram-loss", lambda row, loss=loss: row[1] == loss, f"datagrams at 1 Gbit/s, loss of {loss} % "
           "each way, bandwidth of 1 MiB over that without loss, at least", +1, bound, ratio_to_row(("1 MiB",
                                                                                                     0)))
      for loss, bound in ((0.1, 0.95), (1, 0.9), (5, 0.8))),
    *(Each("dgram-loss", lambda row: row[1] > 0, "datagrams at 1 Gbit/s, bandwidth of 1 MiB at any loss over "
           f"that of TCP with {congestion}, at least", +1, 1, ratio_to(f"lanyard-{congestion}"))
      for congestion in routes.CONGESTIONS),
    Each("dgram-loss-latency", lambda row: row[1] == 1, "datagrams at 1 Gbit/s, loss of 1 % each way, 1 KiB, "
         "99th percentile of half a round trip, at most", -1, 5000, itself, " us"),
    *(Each("dgram-switch", sizes_from(1, f"{name}, share of the line"), "datagrams, 8 hosts and a switch of "
           f"128 KiB a port, {name} of 64 KiB, share of a port's bits, at least", +1, 85, itself, " %")
      for name in ("gather", "alltoall")),
    Each("dgram-switch", named("given up by probe"), "datagrams, 8 hosts and a switch, packets given up as "
         "nothing arrived, at most", -1, 0, itself),
    Each("dgram-peers", lambda row: row == 256, "datagrams on loopback, 64 ranks with 48 peers each, rate of "
         "256-byte messages over that on TCP, at least", +1, 1.3, ratio_to("lanyard-tcp")),
    Each("dgram-peers", named("resident, busy", "resident, quiet"), "datagrams on loopback, 64 ranks with 48 "
         "peers each, memory of a process over that on TCP, at most", -1, 0.25, ratio_to("lanyard-tcp")),
    Each("kernels-dgram-1gbit", total_time, "datagrams at 1 Gbit/s, 4 ranks, kernels and patterns of class "
         "A: whole time over that on TCP, at most", -1, 1.03, ratio_to("lanyard-tcp")),
    Each("dgram-memory", named("dgram, talked to of 16384"), "datagrams, memory for each of 16,384 "
         "processes, talked to or not, at most", -1, 0.44 * 1024, itself, " B"),
    Each("dgram-memory", named("dgram, talked to, allocated"), "datagrams, memory by the allocator's "
         "counters of a real rank, for each peer that was talked to, at most", -1, 0.44 * 1024, itself, " B"),
    Each("dgram-memory", named("dgram, all of 16384"),
         "datagrams, memory for 16,384 processes in all, at most",
         -1, 16e6, itself, " B"),
]
GOALS = [
    Goal("line", "mpi - line", "8 bytes, half round trip above a bounced cache line, at most", -1, fixed=75),
    Goal("rate", 8, "rate of 8-byte messages, at least 1.2 times that of the best of the others", +1,
         factor=1.2),
    Goal("bandwidth", 1 << 20, "1 MiB bandwidth, window of 64, at least the best of the others", +1),
    Goal("bandwidth-reuse", 1 << 20, "1 MiB bandwidth with one receive buffer for the whole window, at least "
         "the best of the others", +1),
    Goal("allreduce", 8, "allreduce of 8 bytes, 8 ranks, at most the best of the others", -1),
    Goal("allreduce", 8, "allreduce of 8 bytes, 8 ranks, at most 0.6 of the best of the others", -1,
         factor=0.6),
    Goal("allreduce", 8, "allreduce of 8 bytes, 8 ranks, at most that of Intel MPI set to wait", -1,
         others=("impi-wait",)),
    Goal("startup", "startup of 4 ranks", "4 ranks of MPI_Init and MPI_Finalize, at most", -1, fixed=60),
    Goal("start-nothing", "startup of 4 processes without MPI", "4 processes that do nothing, at most", -1,
         fixed=30),
    Each("endings", any_row, "from a death in a job, or a host that refuses, to the end of mpirun, at most",
         -1,
         2000, itself, " ms"),
    Goal("scan", "poll with 64 idle peers", "a look at 64 idle peers in shared memory, at most", -1,
         fixed=40),
    *(Goal("rate-threads", (threads(number), 8), f"message rate of 8 bytes, {threads(number)} of each rank, "
           "above the best of the others", +1) for number in (1, 2, 4, 8)),
    Each("schedule", any_row, "writing the schedule of an allreduce of 8 bytes, 4 ranks, at most", -1, 300,
         itself, " ns"),
    *(Each("abi-cost", named(row), f"{row} by libmpi.so.12, more than by libmpi_abi.so.1, at most", -1, 15,
           more_than("lanyard"), " ns", own="mpich-abi")
      for row in ("MPI_Comm_rank", "send and receive to oneself")),
    GeometricMean("bandwidth-sizes", "windows of 64 messages, 8 B to 16 MiB, bandwidth over that of the "
                  "best of the others, geometric mean, at least", 1.3, any_row),
    Each("bandwidth-sizes", any_row, "windows of 64 messages, 8 B to 16 MiB, bandwidth at any size over that "
         "of the best of the others, at least", +1, 0.95, times_the_best),
    *(GeometricMean(f"collectives-{ranks}", f"{ranks} ranks, blocking collectives from 8 bytes to 1 MiB, "
                    "best other over ours, geometric mean, at least", 1, lambda row: row[0] != "iallreduce")
      for ranks in (2, 4, 8)),
    *(Each(f"collectives-{ranks}", lambda row: row == ("iallreduce", 8), f"{ranks} ranks, nonblocking "
           "allreduce of 8 bytes over the blocking one, at most", -1, 1.3, ratio_to_row(("allreduce", 8)))
      for ranks in (2, 4, 8)),
    Each("posted-tcp", named("late"),
         "TCP, receives posted late, LANYARD_WRITE_PROTOCOL=on over off, at most", -1,
         1.02, ratio_to("first-bytes=262144+write-protocol=off"), own="first-bytes=262144+write-protocol=on"),
    *(GeometricMean(f"{part}-{ranks}", f"{ranks} ranks, {way}, kernels of class A: best other's time in MPI "
                    "over ours, geometric mean, at least", 1 / bound, time_in_mpi)
      for part, way, bound in (("kernels", "shared memory", 0.8), ("kernels-tcp", "TCP", 0.7))
      for ranks in (2, 4)),
    *(goal for part, way in KERNEL_ROUTES for ranks in (2, 4) for goal in (
        GeometricMean(f"{part}-{ranks}", f"{ranks} ranks, {way}, kernels of class A without EP: best other's "
                      "time in MPI over ours, geometric mean, at least", 1, time_in_mpi_of_more_than_ep),
        Each(f"{part}-{ranks}", total_time, f"{ranks} ranks, {way}, kernels of class A: our whole time over "
             "the best other's, at most", -1, 1.02, ratio_to_best))),
    *(goal for route, way, mean, updates in (("", "shared memory", 1.5, 1.3), ("tcp-", "TCP", 1.05, 1))
      for ranks in (2, 4) for goal in (
        SmallestMean(f"imb-{route}{ranks}", f"{ranks} ranks, {way}, IMB: best other's time over ours, "
                     "geometric mean of each benchmark, at least", mean, any_row, PEERS),
        Each(f"imb-{route}{ranks}", any_row, f"{ranks} ranks, {way}, IMB: best other's time over ours, at "
             "least", +1, 0.95, times_the_best),
        Each(f"hpcc-{route}{ranks}", any_row, f"{ranks} ranks, {way}, HPCC: ours over the best other, at "
             "least", +1, 0.98, times_the_best),
        Each(f"hpcc-{route}{ranks}", lambda row: row.startswith("MPIRandomAccess"), f"{ranks} ranks, {way}, "
             "MPIRandomAccess: ours over the best other, at least", +1, updates, times_the_best))),
    *(goal for ranks in (2, 3) for goal in (
        Goal(f"mpi4py-{ranks}", "wall time", f"mpi4py's own tests, {ranks} ranks, wall time, at most the "
             "better of MPICH and Open MPI", -1, others=("mpich", "openmpi")),
        Goal(f"mpi4py-{ranks}", "failed", f"mpi4py's own tests, {ranks} ranks, failed, at most", -1, fixed=0,
             others=("mpich", "openmpi")),
        Goal(f"mpi4py-{ranks}", mpi4py_suite.SKIPPED_ALONE, f"mpi4py's own tests, {ranks} ranks, "
             f"{mpi4py_suite.SKIPPED_ALONE}, at most", -1, fixed=0))),
    *NETWORK_GOALS,
    *DATAGRAM_GOALS,
]


def judged(all_series, libraries):
    """Yields (goal, ours, bound, words on the others, verdict) for each goal whose series was measured.

    All except the goal are strings. If the machine had two cores in some rounds, only these are judged. The
    words then have the figure of all rounds too.
    """
    for goal in GOALS:
        if goal.part in all_series and "lanyard" in libraries:
            series = all_series[goal.part]
            chosen, note = on_two_cores(series)
            ours, bound, words, judgement = goal.judge(chosen, libraries)
            if chosen is not series:
                note += f"all rounds: {goal.judge(series, libraries)[0]}"
            words = "; ".join(filter(None, (words, note)))
            yield goal, ours, bound, words, proof.MARK if series.off_path(goal.own) else judgement


def on_two_cores(series):
    """Returns (the results of the rounds on two cores, words on this choice).

    If there are no such rounds, or only such, or if the states are not known, these are all results.
    """
    states = series.by_state()
    rounds = states.get(machine_state.TWO_CORES, [])
    if len(rounds) == len(series.looks) or set(states) <= {machine_state.UNKNOWN}:
        return series, ""
    if not rounds:
        return series, "no round on two cores"
    chosen = series.of_rounds(rounds)
    chosen.counted = series.counted
    return chosen, f"{len(rounds)} of {len(series.looks)} rounds on two cores; "


def table(all_series, libraries):
    lines = ["| goal | Lanyard, median (95 % interval) | bound | the others | verdict |",
             "|---|---|---|---|---|"]
    for goal, *words in judged(all_series, libraries):
        lines.append(f"| {goal.sentence} | {' | '.join(words)} |")
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""
