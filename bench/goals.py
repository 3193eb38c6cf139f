"""What Lanyard promises of its speed, and whether the measured series keep it; used by bench/run for its first table."""
from figures import summary
from report import number, with_interval


class Goal:
    """One promise: `row` of the series `part` must be at most (or at least) a fixed value, or the best of some others."""

    def __init__(self, part, row, sentence, sign, fixed=None, others=("mpich", "impi", "openmpi")):
        self.part = part
        self.row = row
        self.sentence = sentence
        self.sign = sign  # +1: larger is better
        self.fixed = fixed
        self.others = others

    def judge(self, series, libraries):
        """(ours, bound, words, verdict), each a string for the table."""
        ours = series.numbers("lanyard", self.row)
        if not ours:
            return "no number", "", "", "not measured"
        ours = summary(ours)
        others = {key: summary(values)["median"] for key in self.others
                  if key in libraries and (values := series.numbers(key, self.row))}
        unit = series.units[self.row]
        words = ", ".join(f"{libraries[key].title} {number(value)}" for key, value in others.items())
        if self.fixed is not None:
            bound = self.fixed
        elif others:
            bound = max(others.values()) if self.sign > 0 else min(others.values())
        else:
            return with_interval(ours) + " " + unit, "", "", "nothing to compare with"
        kept = (ours["median"] - bound) * self.sign >= 0
        return f"{with_interval(ours)} {unit}", f"{number(bound)} {unit}", words, "kept" if kept else "missed"


GOALS = [
    Goal("line", "mpi - line", "8 bytes, half round trip above a bounced cache line, at most", -1, fixed=145),
    Goal("bandwidth", 1 << 20, "1 MiB bandwidth, window of 64, at least the best of the others", +1),
    Goal("bandwidth-reuse", 1 << 20, "the same with one receive buffer for the whole window", +1),
    Goal("allreduce", 8, "allreduce of 8 bytes, 8 ranks, at most the best of the others", -1),
    Goal("allreduce", 8, "the same against Intel MPI set to wait", -1, others=("impi-wait",)),
    Goal("startup", "startup of 4 ranks", "4 ranks of MPI_Init and MPI_Finalize, at most", -1, fixed=60),
    Goal("scan", "poll with 64 idle peers", "a look at 64 idle peers in shared memory, at most", -1, fixed=40),
]


def table(all_series, libraries):
    lines = ["| goal | Lanyard, median (95 % interval) | bound | the others | verdict |", "|---|---|---|---|---|"]
    for goal in GOALS:
        if goal.part in all_series and "lanyard" in libraries:
            ours, bound, words, verdict = goal.judge(all_series[goal.part], libraries)
            lines.append(f"| {goal.sentence} | {ours} | {bound} | {words} | {verdict} |")
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""
