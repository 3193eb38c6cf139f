"""Tests the statistics, the alternation of runs and the tables of bench/, with made-up libraries and without
MPI."""
import pathlib
import subprocess
import sys
import time

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import figures  # noqa: E402
import goals  # noqa: E402
import machine_state  # noqa: E402
import measure  # noqa: E402
import peers  # noqa: E402
import plots  # noqa: E402
import routes  # noqa: E402
import tables  # noqa: E402


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (5, 1), (6, 1), (9, 2), (15, 4), (20, 6), (100, 40)])
def test_interval_ranks_are_those_of_the_tables(n, rank):
    assert figures.interval(list(range(n, 0, -1))) == (rank, n + 1 - rank)


def test_ratios_pair_rounds_and_leave_out_those_without_a_partner():
    ratio = figures.paired_ratio([2, 4, None, 9], [1, 2, 5, None])
    assert (ratio["median"], ratio["samples"]) == (2, 2)
    assert figures.paired_ratio([None], [1]) is None


def shell_library(key, script):
    """Returns a library whose launcher runs a shell script instead of a job."""
    return peers.Library(key, key.title(), pathlib.Path("/"), pathlib.Path("/none"),
                         lambda ranks: ["/bin/sh", "-c", script], {})


JSON = ("""echo 'a library talks' >&1; """
        """echo '{"library": "L 1", "results": [{"bytes": 8, "median": %s, "unit": "us"}]}'""")


def test_a_run_gives_its_rows_even_after_chatter():
    version, rows = measure.run_json(shell_library("one", JSON % 2.5), 2, "latency")
    assert (version, rows) == ("L 1", {8: (2.5, "us")})


@pytest.mark.parametrize(("script", "words"), [
    ("echo broken >&2; exit 3", "exit code 3: broken"),
    ("echo nothing", "not the expected JSON"),
    ("echo '{}'", "not the expected JSON"),
])
def test_a_failed_run_is_told_with_its_words(script, words):
    with pytest.raises(measure.Failed, match=words):
        measure.run_json(shell_library("one", script), 2, "latency")


def test_a_run_that_hangs_is_ended_with_all_its_processes(monkeypatch):
    monkeypatch.setattr(measure, "RUN_LIMIT_SECONDS", 0.3)
    start = time.monotonic()
    with pytest.raises(measure.Failed, match="no end after"):
        measure.run(shell_library("one", "sleep 30 & sleep 30"), 2, "latency")
    assert time.monotonic() - start < 25  # if they were not killed, they would sleep for 30 s


def test_rounds_alternate_and_rotate():
    order = []
    libraries = {key: shell_library(key, "") for key in ("a", "b", "c")}

    def note(library):
        order.append(library.key)
        return "v", {8: (1.0, "us")}

    measure.alternate("x", libraries, 3, note, quiet_seconds=0)
    assert "".join(order) == "abcbcacab"


def test_failures_keep_rounds_aligned_and_a_hopeless_library_is_given_up():
    libraries = {key: shell_library(key, "") for key in ("good", "shaky", "dead")}
    calls = {"good": 0, "shaky": 0, "dead": 0}

    def run(library):
        calls[library.key] += 1
        if library.key == "dead" or (library.key == "shaky" and calls["shaky"] in (1, 3)):
            raise measure.Failed("broken")
        return "v", {8: (float(calls[library.key]), "us")}

    series = measure.alternate("x", libraries, 5, run, quiet_seconds=0)
    assert series.values["shaky"][8] == [None, 2.0, None, 4.0, 5.0]
    assert series.numbers("shaky", 8) == [2.0, 4.0, 5.0]
    assert calls["dead"] == 3 and "dead" not in series.values
    table = tables.markdown(series, libraries, first="good")
    assert "Dead failed 3 times: broken" in table and "| 8 B | Shaky |" in table


def test_the_best_of_a_time_is_small_and_of_a_rate_large():
    assert tables.best([3.0, 1.0, 2.0], "us") == 1.0
    assert tables.best([3.0, 1.0, 2.0], "GB/s") == tables.best([3.0, 1.0], "M/s") == 3.0


def test_the_machine_being_busy_is_said():
    series = measure.Series("x")
    series.add(shell_library("a", ""), 0, "v", {8: (1.0, "us")})
    series.busy = [0.5]
    assert "Other work took up to 50% of the machine" in tables.markdown(series,
                                                                         {"a": shell_library("a", "")}, "a")


def judged(part, row, unit, **values):
    series = measure.Series(part)
    libraries = {key: shell_library(key, "") for key in values}
    for key, value in values.items():
        series.add(libraries[key], 0, "v", {row: (value, unit)})
    return goals.table({part: series}, libraries)


def test_goals_are_kept_or_missed_against_the_best_of_the_others():
    size = 1 << 20
    assert "| kept |" in judged("bandwidth", size, "GB/s", lanyard=12.0, mpich=10.0, impi=11.9)
    assert "| missed |" in judged("bandwidth", size, "GB/s", lanyard=11.0, mpich=10.0, impi=11.9)
    assert "| kept |" in judged("allreduce", 8, "us", lanyard=10.0, openmpi=10.0)
    assert "| 6 us |" in judged("allreduce", 8, "us", lanyard=5.0, openmpi=10.0)
    assert "| missed |" in judged("startup", "startup of 4 ranks", "ms", lanyard=61.0)
    assert "nothing to compare with" in judged("allreduce", 8, "us", lanyard=10.0)
    assert judged("allreduce", 8, "us", mpich=10.0) == ""
    beside = judged("tcp-allreduce", 8, "us", lanyard=6.0, mpich=16.0, openmpi=14.0, impi=1.0, tcp=5.0)
    assert "| 7 us | Mpich 16, Openmpi 14, Impi 1, raw TCP 5 | kept |" in beside


@pytest.mark.parametrize(("low", "median", "high", "at_least", "at_most"), [
    (1.1, 1.2, 1.3, "kept", "missed"),
    (0.9, 1.2, 1.3, "kept by the median", "missed by the median"),
    (0.9, 0.95, 1.3, "missed by the median", "kept by the median"),
    (0.8, 0.9, 0.95, "missed", "kept"),
    (1.0, 1.0, 1.0, "kept", "kept"),
])
def test_an_interval_that_crosses_the_bound_leaves_it_to_the_median(low, median, high, at_least, at_most):
    figures_of_run = {"low": low, "median": median, "high": high}
    assert goals.verdict(figures_of_run, 1.0, +1) == at_least
    assert goals.verdict(figures_of_run, 1.0, -1) == at_most


def test_the_row_with_the_worst_verdict_is_shown():
    series = measure.Series("x")
    for number, shaky in enumerate((0.90, 0.94, 1.2)):
        series.add(shell_library("lanyard", ""), number, "v",
                   {65536: (shaky, "GB/s"), 1 << 20: (0.94, "GB/s")})
        series.add(shell_library("tcp", ""), number, "v", {65536: (1.0, "GB/s"), 1 << 20: (1.0, "GB/s")})
    text = goals.table({"tcp-bandwidth": series}, {"lanyard": shell_library("lanyard", "")})
    assert "0.94 (0.94 to 0.94) at 1 MiB | 0.95 |  | missed |" in text


def series_of(rows_by_key, rounds=1):
    """Returns a series with the same rows {row: (value, unit)} in every round."""
    series = measure.Series("x")
    for number in range(rounds):
        for key, rows in rows_by_key.items():
            series.add(shell_library(key, ""), number, "v", rows)
    return series


def verdict(part, **rows_by_key):
    rows = {key.replace("__", "="): value for key, value in rows_by_key.items()}
    return goals.table({part: series_of(rows)}, {"lanyard": shell_library("lanyard", "")})


def of_states(looks, ours):
    """Returns a series `allreduce` with a look and one figure of Lanyard in each round; MPICH has 10 us."""
    series = measure.Series("x")
    for number, (look, figure) in enumerate(zip(looks, ours)):
        series.add(shell_library("lanyard", ""), number, "v", {8: (figure, "us")})
        series.add(shell_library("mpich", ""), number, "v", {8: (10.0, "us")})
    series.looks, series.busy = [(look, look) for look in looks], [0.0] * len(looks)
    return series


def test_goals_are_judged_on_two_cores():
    libraries = {key: shell_library(key, "") for key in ("lanyard", "mpich")}
    near, far = machine_state.Look(60, 3), machine_state.Look(250, 10)

    def judge(looks, ours):
        return goals.table({"allreduce": of_states(looks, ours)}, libraries).splitlines()[2]
    assert judge([near, far, near], [30.0, 9.0, 20.0]).endswith(
        "| 9 (9 to 9) us | 10 us | Mpich 10; 1 of 3 rounds on two cores; all rounds: 20 (9 to 30) us | "
        "kept |")
    assert judge([near, near], [30.0, 9.0]).endswith(
        "| 10 us | Mpich 10; no round on two cores | missed by the median |")
    assert judge([far, far], [11.0, 12.0]).endswith("| 10 us | Mpich 10 | missed |")
    assert judge([None, None], [11.0, 12.0]).endswith("| 10 us | Mpich 10 | missed |")


def test_the_benchmark_with_the_smallest_mean_is_shown():
    rows = {("Bcast", 8): 1.0, ("Bcast", 64): 4.0, ("Reduce", 8): 2.0, ("Reduce", 64): 1.5}
    series = series_of({"lanyard": {row: (1.0, "us") for row in rows},
                        "mpich": {row: (time, "us") for row, time in rows.items()}})
    goal = goals.SmallestMean("x", "", 1.8, goals.any_row)
    assert goal.judge(series, {"mpich": None}) == ("1.73 of Reduce", "1.8", "2 of 2 cells are won", "missed")
    assert goal.judge(series, {}) == ("no number", "1.8", "", "not measured")


def test_a_goal_for_every_row_shows_the_worst():
    tcp = {8: (10.0, "us"), 1024: (10.0, "us")}
    assert "| 1.05 (1.05 to 1.05) | 1.1 |" in verdict("tcp-latency",
                                                      lanyard={8: (10.5, "us"), 1024: (20.0, "us")}, tcp=tcp)
    rates = {65536: (1.0, "GB/s"), 1 << 20: (2.0, "GB/s")}
    text = verdict("tcp-bandwidth", lanyard={65536: (1.0, "GB/s"), 1 << 20: (1.8, "GB/s")}, tcp=rates)
    assert "| 0.9 (0.9 to 0.9) at 1 MiB | 0.95 |  | missed |" in text
    waits = {("receive wait share", 16384): (4.0, "%"), ("receive wait share", 32768): (6.0, "%"),
             ("receive alone", 16384): (9.0, "us")}
    assert "| 6 (6 to 6) % at receive wait share, 32 KiB | 5 % |  | missed |" in verdict("overlap-receive",
                                                                                         lanyard=waits)


def test_no_size_may_be_slower_than_the_next_smaller():
    assert "| kept |" in verdict("lab-bandwidth",
                                 lanyard={1024: (1.0, "GB/s"), 2048: (0.98, "GB/s"), 4096: (0.96, "GB/s")})
    assert "0.9 (0.9 to 0.9) at 2 KiB" in verdict(
        "lab-bandwidth", lanyard={1024: (1.0, "GB/s"), 2048: (0.9, "GB/s"), 4096: (1.0, "GB/s")})


@pytest.mark.parametrize("name", ["alltoall", "allreduce"])
def test_a_collective_moves_while_the_ranks_work(name):
    overlaps = {(f"{name} overlap", 65536): (95.0, "%"), (f"{name} overlap", 1 << 20): (89.0, "%"),
                (f"{name} wait", 65536): (3.0, "us")}
    assert "| 89 (89 to 89) % at " in verdict(f"overlap-{name}", lanyard=overlaps)
    assert "| 90 % |  | missed |" in verdict(f"overlap-{name}", lanyard=overlaps)


def test_work_may_be_slowed_as_much_as_by_a_raw_thread():
    row = ("send work slowed", 16384)
    assert "| 0.5 (0.5 to 0.5) % | 1 % |  | kept |" in verdict("overlap-send", lanyard={row: (3.5, "%")},
                                                               tcp={row: (3.0, "%")})


def test_settings_are_compared_with_each_other():
    text = verdict("progress", lanyard={}, progress__caller={8: (10.0, "us")},
                   progress__auto={8: (10.2, "us")}, progress__helper={8: (12.0, "us")})
    assert ("| 1.02 (1.02 to 1.02) | 1.03 |  | kept |" in text and
            "| 1.2 (1.2 to 1.2) | 1.03 |  | missed |" in text)


def test_a_row_has_a_size_a_name_or_both():
    output = '{"results": [{"bytes": 8, "median": 1, "unit": "us"}, {"name": "a", "median": 2, "unit": ' \
             '"ns"}, {"name": "a", "bytes": 0, ' \
             '"median": 3, "unit": "%"}]}'
    assert measure.read_json(output)[1] == {8: (1, "us"), "a": (2, "ns"), ("a", 0): (3, "%")}


def test_a_sweep_is_one_library_for_each_value():
    swept = routes.swept(shell_library("lanyard", ""), "eager-limit=0,512")
    assert [library.environment for library in swept.values()] == [{"LANYARD_EAGER_LIMIT": "0"},
                                                                   {"LANYARD_EAGER_LIMIT": "512"}]
    assert [library.key for library in swept.values()] == list(swept) == ["eager-limit=0", "eager-limit=512"]


def test_a_sweep_takes_its_route():
    with routes.routed({"lanyard": shell_library("lanyard", "")}, "tcp", "latency", [],
                       "progress=caller,auto") as moved:
        assert list(moved) == ["progress=caller", "progress=auto", "tcp"]
        assert moved["progress=auto"].environment == {"LANYARD_PATHS": "self,tcp", "LANYARD_PROGRESS": "auto"}


def test_a_second_setting_of_a_library_is_forced_to_tcp_too():
    oversubscribed = peers.with_oversubscribed_settings({"impi": shell_library("impi", "")})
    moved = routes.over_loopback(oversubscribed, "rate", [])
    assert moved["impi-wait"].environment == {**moved["impi"].environment, "I_MPI_WAIT_MODE": "1"}


def test_all_are_forced_to_tcp_and_raw_tcp_runs_beside_what_it_has():
    libraries = {key: shell_library(key, "") for key in peers.ALL}
    moved = routes.over_loopback(libraries, "latency", ["--sizes", "8"])
    assert list(moved) == [*peers.ALL, "tcp"]
    assert all("tcp" in " ".join(library.environment.values()) for key, library in moved.items()
               if key != "tcp")
    assert moved["tcp"].command(2, "latency", ["--pin"]) == ["/none/bench-tcp", "latency", "--pin"]
    assert routes.over_loopback(libraries, "allreduce", [])["tcp"].command(8, "allreduce") == [
        "/none/bench-tcp", "allreduce", "--ranks", "8"]
    for program, words in (("rate", []), ("latency", ["--beside", "1M"]),
                           ("overlap", ["--parts", "receive,allreduce"])):
        assert "tcp" not in routes.over_loopback(libraries, program, words)


@pytest.mark.parametrize("rows", [
    {8: (1.0, "us"), 1024: (2.0, "us")},
    {("wait", 8): (1.0, "us"), ("wait", 16): (2.0, "us"), ("share", 8): (-3.0, "%"),
     ("share", 16): (0.0, "%")},
    {"found": (1.0, "us"), "nothing": (2.0, "ns")},
])
def test_every_kind_of_row_is_drawn(rows, tmp_path):
    pytest.importorskip("matplotlib")
    series = series_of({"lanyard": rows, "tcp": rows}, rounds=2)
    libraries = {key: shell_library(key, "") for key in ("lanyard", "tcp")}
    plots.plot(series, libraries, tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes()[:4] == b"\x89PNG"


def test_latencies_beside_tcp_become_throughput_and_loss():
    series = series_of({"lanyard": {1000: (10.0, "us")}, "tcp": {1000: (8.0, "us")}})
    libraries = {key: shell_library(key, "") for key in ("lanyard", "tcp")}
    drawn = {panel.title: panel.curves for panel in plots.panels(series, libraries)}
    assert drawn["throughput of the ping-pong"]["lanyard"][0][1]["median"] == pytest.approx(800)
    assert drawn["loss against raw TCP"] == {"lanyard": [
        (1000, {"median": pytest.approx(20), "low": pytest.approx(20), "high": pytest.approx(20)})]}


def test_peers_are_pinned_to_versions():
    assert set(peers.pinned_packages()) == set(peers.ALL) - {"lanyard"}
    assert all("==" in package for package in peers.pinned_packages().values())


def test_foreign_variables_do_not_reach_a_run(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "3")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/elsewhere")
    assert not {"OMPI_COMM_WORLD_SIZE", "LD_LIBRARY_PATH"} & set(shell_library("a", "").environ())


@pytest.mark.parametrize(("command", "words"), [
    (["run", "--only", "latencies"],
     "there is no part 'latencies'; the parts are limits, instructions, line"),
    (["run", "--only", "startup", "--libraries", "lanyard", "--prefix", "/no/such/place"],
     "there is no bin/mpirun under"),
    (["compare", "latency", "--libraries", "lanyard,foo"], "unknown library foo"),
    (["run", "--only", "network,foo"], "there is no part 'foo'"),
])
def test_the_commands_refuse_with_a_sentence(command, words, tmp_path):
    script = pathlib.Path(__file__).resolve().parents[2] / "bench" / command[0]
    done = subprocess.run([sys.executable, script, *command[1:], "--out", tmp_path, "--cache", tmp_path],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert words in done.stderr


def test_rounds_are_named_by_ranges():
    assert tables.ranges([3, 1, 2, 7, 9, 8, 3]) == "1 to 3, 7 to 9"
    assert tables.ranges([4]) == "4"


NEAR, FAR = machine_state.Look(60, 3), machine_state.Look(250, 10)


def alternated(monkeypatch, figures_of, looks):
    """Makes rounds of libraries that give these figures, or fail if the figure is None.

    `looks` contains the state of the machine before and after each round.
    """
    monkeypatch.setattr(measure, "wait_until_quiet", lambda seconds: 0)
    libraries = {key: shell_library(key, "") for key in figures_of}
    rest, taken = iter(looks), {key: iter(values) for key, values in figures_of.items()}

    def one_run(library):
        value = next(taken[library.key])
        if value is None:
            raise measure.Failed("made up")
        return "1", {8: (value, "us")}

    series = measure.alternate("latency", libraries, len(looks) // 2, one_run, look=lambda: next(rest))
    return series, libraries


def test_each_state_of_the_machine_has_a_table_of_its_own(monkeypatch):
    looks = [NEAR, NEAR, FAR, FAR, NEAR, FAR, FAR, FAR]
    series, libraries = alternated(monkeypatch, {"lanyard": [1, 4, 9, 2], "mpich": [3, 4, 9, None]}, looks)
    assert series.by_state() == {machine_state.ONE_CORE: [0], machine_state.TWO_CORES: [1, 3],
                                 machine_state.CHANGED: [2]}
    assert series.of_rounds([1, 3]).values == {"lanyard": {8: [4, 2]}, "mpich": {8: [4]}}
    text = tables.markdown(series, libraries)
    assert text.count("| library |") == 4
    alone = text[text.index(machine_state.ONE_CORE):]
    assert alone.index("; a line takes 60 ns, 64 KiB are copied in 3 us; rounds 1.\n") < alone.index(
        "| 3 (3 to 3) |")
    assert "0.333 (0.333 to 0.333)" in alone[:alone.index("The machine: ")]
    assert "rounds 2, 4." in text


def test_one_state_needs_no_table_of_its_own_and_is_named(monkeypatch):
    series, libraries = alternated(monkeypatch, {"lanyard": [1, 1], "mpich": [2, 2]}, [FAR] * 4)
    text = tables.markdown(series, libraries)
    assert text.count("| library |") == 1 and f"The machine: {machine_state.TWO_CORES}" in text
    series, libraries = alternated(monkeypatch, {"lanyard": [1]}, [None, None])
    assert f"The machine: {machine_state.UNKNOWN}; rounds 1." in tables.markdown(series, libraries)
    assert "The machine" not in tables.markdown(measure.alternate("latency", libraries, 0, None), libraries)
