"""Tests bench/compare --ours: its statistics and verdicts on made-up pairs, and what it refuses.

One short round compares the build named by LANYARD_BUILD with itself. No test judges speed.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

import pytest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import instructions  # noqa: E402
import machine_state  # noqa: E402
import measure  # noqa: E402
import ours  # noqa: E402
import ours_report  # noqa: E402
import pairs  # noqa: E402
import peers  # noqa: E402
import verdicts  # noqa: E402
from machine_state import CHANGED, ONE_CORE, TWO_CORES, UNCLEAR, UNKNOWN, Look  # noqa: E402
from verdicts import FASTER, FEWER, LEVEL, MORE, SLOWER, TOO_FEW, Cell, Pair  # noqa: E402

BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", "build/release")).absolute()
NEAR, FAR = Look(65.0, 3.0), Look(260.0, 10.0)
LATENCY = Cell("latency", "shm")


def pairs_of(ratios, unit="us", cell=LATENCY, look=FAR):
    """Returns pairs in which the time of B is that of A multiplied by these ratios, whatever the unit is."""
    of_b = [2.0 / ratio if unit.endswith("/s") else 2.0 * ratio for ratio in ratios]
    return [Pair(number + 1, cell, "AB"[number % 2], {8: (2.0, unit)}, {8: (value, unit)}, look, look)
            for number, value in enumerate(of_b)]


@pytest.mark.parametrize(("ratios", "verdict"), [
    ([1.02] * 6, SLOWER),
    ([0.98] * 6, FASTER),
    ([1.005] * 20, LEVEL),                        # above 1, but not above 1.01 (the tolerance)
    ([1.02, 1.03, 1.04, 1.05, 1.06, 1.0], LEVEL),  # with six pairs, the interval is the whole range
    ([1.02] * 15 + [0.5] * 5, SLOWER),            # with twenty pairs, five on each side are left out of it
    ([1.02] * 14 + [0.5] * 6, LEVEL),
    ([0.98] * 15 + [50.0] * 5, FASTER),           # a few outliers change nothing
    ([1.5] * 5, TOO_FEW),
])
@pytest.mark.parametrize("unit", ["us", "GB/s", "M/s"])
def test_a_verdict_needs_the_whole_interval_beyond_a_hundredth(ratios, verdict, unit):
    (row,) = verdicts.rows_of(pairs_of(ratios, unit))
    assert row.verdict == verdict
    assert row.ratio["samples"] == len(ratios)
    assert row.ratio["median"] == pytest.approx(statistics.median(ratios))


def test_ratios_are_those_of_pairs_not_of_medians():
    """The machine becomes slower all the time, and B is slower by a tenth in every pair."""
    taken = [Pair(n, LATENCY, "A", {8: (1.0 * 2**n, "us")}, {8: (1.1 * 2**n, "us")}) for n in range(10)]
    (row,) = verdicts.rows_of(taken)
    assert row.ratio["low"] == pytest.approx(1.1) and row.ratio["high"] == pytest.approx(1.1)
    assert row.verdict == SLOWER


def test_a_figure_that_one_of_both_lacks_is_left_out():
    figure = (1.0, "us")
    taken = [Pair(1, LATENCY, "A", {8: figure, 64: figure}, {8: figure, 0: figure})]
    assert [row.size for row in verdicts.rows_of(taken)] == [8]


def test_rows_stand_by_cell_and_size():
    rate = Cell("rate", "tcp")
    taken = [Pair(1, cell, "A", figures, figures) for cell, figures in
             [(rate, {8: (1.0, "M/s")}), (LATENCY, {1024: (2.0, "us"), 8: (1.0, "us")})]]
    rows = verdicts.rows_of(taken)
    assert [(row.cell, row.size) for row in rows] == [(rate, 8), (LATENCY, 8), (LATENCY, 1024)]


@pytest.mark.parametrize(("look", "kind"), [
    (NEAR, ONE_CORE), (FAR, TWO_CORES), (Look(70.0, 10.5), UNCLEAR), (Look(250.0, 3.0), UNCLEAR),
    (Look(25.0, 3.3), ONE_CORE), (Look(80.0, 8.0), ONE_CORE), (Look(120.0, 7.7), TWO_CORES),
    (None, UNKNOWN),
])
def test_the_state_is_told_by_the_line_and_the_copies_together(look, kind):
    assert machine_state.kind(look) == kind
    assert machine_state.kind_between(look, look) == kind
    if kind != TWO_CORES:
        assert machine_state.kind_between(look, FAR) == machine_state.kind_between(FAR, look) == CHANGED


def test_pairs_are_grouped_by_the_state_of_the_machine():
    taken = pairs_of([1.0] * 8) + pairs_of([1.1] * 6, look=NEAR)
    groups = verdicts.groups_of(taken)
    assert [(group.state, group.rows[0].ratio["samples"], group.rows[0].verdict) for group in groups] == [
        ("", 14, LEVEL), (TWO_CORES, 8, LEVEL), (ONE_CORE, 6, SLOWER)]
    assert [state for state, _ in verdicts.slower_ones(groups, [])[0]] == [ONE_CORE]
    assert [group.state for group in verdicts.groups_of(pairs_of([1.0]))] == [""]
    assert verdicts.groups_of([]) == []


def test_counts_are_flagged_beyond_a_hundredth():
    before, after = {"send": 200, "recv": 200, "wait": 200}, {"send": 203, "recv": 201, "wait": 197}
    counts = verdicts.judge_counts("x", before, after)
    assert [count.verdict for count in counts] == [MORE, LEVEL, FEWER]
    assert [count.call for count in verdicts.slower_ones([], counts)[1]] == ["send"]


class MadeUp:
    """Stands in for both builds. Each run is recorded and returns `figure(key, cell, number)`. A run fails if
    that is None."""

    def __init__(self, monkeypatch, figure):
        self.ran = []
        self.figure = figure
        none = pathlib.Path("/none")
        a, b = (peers.Library(key, key, none / key, none, None, {}) for key in "AB")
        monkeypatch.setattr(pairs, "run_once", self.run)
        monkeypatch.setattr(ours, "builds_of", lambda options, metrics: (a, b))
        monkeypatch.setattr(machine_state, "compile_program", lambda folder: None)
        monkeypatch.setattr(machine_state, "look", lambda program: FAR)
        monkeypatch.setattr(measure, "busy_share", lambda seconds=0.3: 0.0)

    def run(self, build, cell):
        self.ran.append((build.key, cell))
        value = self.figure(build.key, cell, self.ran.count((build.key, cell)))
        if value is None:
            raise measure.Failed("broken")
        return "Lanyard 1", {8: (value, "us")}


def main(*words):
    return ours.main(["--ours", "a", "b", *words])


def test_runs_of_a_pair_are_neighbours_and_change_their_order_each_round(monkeypatch):
    made = MadeUp(monkeypatch, lambda *_: 1.0)
    assert main("--rounds", "3", "--only", "latency,rate", "--paths", "shm") == 0
    rate = Cell("rate", "shm")
    one = [("A", LATENCY), ("B", LATENCY), ("A", rate), ("B", rate)]
    other = [("B", LATENCY), ("A", LATENCY), ("B", rate), ("A", rate)]
    assert made.ran == one + other + one


def test_all_metrics_run_on_all_paths():
    assert pairs.cells_of(["rate", "latency", "bandwidth"], ["tcp", "shm", "dgram"]) == [
        Cell(metric, path) for path in ("tcp", "shm", "dgram") for metric in ("latency", "rate", "bandwidth")]


@pytest.mark.parametrize(("factor", "code", "words"), [
    (1.05, 1, "slower: latency of 8 B on shm: 1.05 (1.05 to 1.05)"),
    (1.0, 0, "In nothing measured here is B slower than A."),
    (0.9, 0, "| faster "),
])
def test_the_exit_code_tells_whether_b_is_slower(monkeypatch, capsys, tmp_path, factor, code, words):
    MadeUp(monkeypatch, lambda key, *_: 2.0 * factor if key == "B" else 2.0)
    file = tmp_path / "numbers.json"
    assert main("--rounds", "6", "--only", "latency", "--paths", "shm", "--json", str(file)) == code
    text = capsys.readouterr().out
    assert words in text
    assert "The machine: two cores; a line takes 260 ns, 64 KiB are copied in 10 us; rounds 1 to 6." in text
    numbers = json.loads(file.read_text())
    assert numbers["groups"][0]["rows"][0]["time_ratio"]["median"] == pytest.approx(factor)
    assert [(pair["round"], pair["first"]) for pair in numbers["pairs"]] == list(zip(range(1, 7), "ABABAB"))
    assert {pair["state"] for pair in numbers["pairs"]} == {TWO_CORES}


def test_a_pair_of_which_one_failed_is_lost(monkeypatch, capsys):
    MadeUp(monkeypatch, lambda key, _, number: None if (key, number) == ("B", 2) else 1.0)
    assert main("--rounds", "7", "--only", "latency", "--paths", "shm") == 0
    text = capsys.readouterr().out
    assert "latency on shm failed 1 times; B: broken" in text and "rounds 1, 3 to 7." in text


def test_what_gives_no_figure_at_all_is_given_up_and_told(monkeypatch, capsys):
    made = MadeUp(monkeypatch, lambda key, cell, _: None if cell.path == "tcp" else 1.0)
    assert main("--rounds", "6", "--only", "latency", "--paths", "shm,tcp") == 1
    assert "latency on tcp failed 3 times and has no figure; A: broken" in capsys.readouterr().out
    assert len([cell for _, cell in made.ran if cell.path == "tcp"]) == 3


def test_five_rounds_are_no_verdict(monkeypatch, capsys):
    MadeUp(monkeypatch, lambda key, *_: 2.0 if key == "B" else 1.0)
    assert main("--rounds", "5", "--only", "latency", "--paths", "shm") == 0
    assert "There is no verdict: it needs 6 pairs of a figure." in capsys.readouterr().out


def test_counts_that_cannot_be_had_are_told(monkeypatch, capsys):
    MadeUp(monkeypatch, lambda *_: 1.0)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main("--only", "instructions") == 1
    assert "Instructions are not counted: valgrind is not installed" in capsys.readouterr().out


@pytest.fixture
def prefix(tmp_path):
    """Returns a folder that looks like a build. Its files are empty. A test removes some of them."""
    for name in ("bin/mpirun", "lib/libmpi_abi.so.1", "lib/liblanyard.so.0", "libexec/lanyard/bench-latency"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize("gone", ["bin/mpirun", "lib/libmpi_abi.so.1", "lib/liblanyard.so.0"])
def test_a_folder_that_is_no_build_is_refused(prefix, capsys, gone):
    (prefix / gone).unlink()
    assert ours.main(["--ours", str(BUILD), str(prefix)]) == 2
    sentence = "give the folder of a whole build or install of Lanyard"
    assert capsys.readouterr().err == f"bench/compare: there is no {gone} under {prefix}: {sentence}\n"


def test_builds_without_benchmarks_are_refused(prefix):
    words = "neither .* has bench-latency and bench-rate; build one with -DLANYARD_BENCH=ON"
    with pytest.raises(peers.Unavailable, match=words):
        pairs.find_programs([prefix, prefix], ["latency", "rate"])
    assert pairs.find_programs([prefix.parent, prefix], ["latency"]) == prefix / "libexec" / "lanyard"


def test_a_build_whose_mpirun_does_not_work_is_refused(prefix):
    words = f"{prefix}/bin/mpirun cannot start a program: .*Permission denied"
    with pytest.raises(peers.Unavailable, match=words):
        pairs.check_whole(pairs.library_of("A", prefix, prefix), "/bin/true")


def test_a_build_that_would_load_other_libraries_is_refused(prefix):
    """The launcher of the refused build is the mpirun of another build."""
    launcher = str(BUILD / "bin" / "mpirun")
    mixed = peers.Library("A", "A", prefix, prefix, lambda ranks: [launcher, "-n", str(ranks)], {})
    words = f"loads libmpi_abi.so.1 from {BUILD.resolve()}/lib/.*, not from {prefix}/lib"
    with pytest.raises(peers.Unavailable, match=words):
        pairs.check_whole(mixed, BUILD / "libexec" / "lanyard" / "bench-latency")
    pairs.check_whole(pairs.library_of("A", BUILD, None), BUILD / "libexec" / "lanyard" / "bench-latency")


def compare(*words):
    command = [sys.executable, ROOT / "bench" / "compare", "--ours", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)


@pytest.mark.parametrize(("words", "sentence"), [
    ([BUILD], "the following arguments are required: PREFIX_B"),
    ([BUILD, "/no/such/folder"], "there is no folder /no/such/folder: give that of a build or an install of "
                                 "Lanyard, which has bin and lib"),
    ([BUILD, BUILD, "--only", "rate,speed"],
     "there is no 'speed'; there are latency, rate, bandwidth, instruct"),
    ([BUILD, BUILD, "--paths", "udp"], "there is no 'udp'; there are shm, tcp, dgram"),
    ([BUILD, BUILD, "--rounds", "0"], "'0' is not a number from 1 on"),
    ([BUILD, BUILD, "--json", "/no/such/folder/x"], "there is no folder for /no/such/folder/x"),
])
def test_wrong_use_is_told_and_ends_with_two(words, sentence):
    done = compare(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr and "Traceback" not in done.stderr


def test_a_build_beside_itself(tmp_path):
    """Runs one round of the smallest program on each path. It does not matter which of the two is faster."""
    options = ["--only", "rate", "--rounds", "1", "--patience", "0", "--json", tmp_path / "numbers.json"]
    done = compare(BUILD, BUILD, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    ran = [(pair["path"], pair["metric"]) for pair in numbers["pairs"]]
    assert ran == [("shm", "rate"), ("tcp", "rate"), ("dgram", "rate")]
    for row in numbers["groups"][0]["rows"]:
        assert row["a"] > 0 and row["b"] > 0
        assert (row["time_ratio"]["samples"], row["verdict"]) == (1, TOO_FEW)
    assert {build["version"].split()[0] for build in numbers["builds"].values()} == {"Lanyard"}
    looks = [pair[when] for pair in numbers["pairs"] for when in ("before", "after")]
    if len(os.sched_getaffinity(0)) > 1:
        assert all(look["line_ns"] > 0 and look["copy_us"] > 0 for look in looks)
    else:
        assert not any(looks)


@pytest.mark.thorough
def test_loops_are_compiled_once_and_counted_with_the_libraries_of_a_build(tmp_path):
    if reason := pairs.why_no_counts(pairs.library_of("A", BUILD, None)):
        pytest.skip(reason)
    if "LANYARD_SANITIZE:STRING=\n" not in (BUILD / "CMakeCache.txt").read_text():
        pytest.skip("valgrind cannot run a build with sanitizers")
    program = tmp_path / "instruction-loops"
    instructions.compile_loops(BUILD, program)
    counts = instructions.count(BUILD, program=program)
    assert counts.keys() == instructions.LOOPS.keys() and all(count > 0 for count in counts.values())
