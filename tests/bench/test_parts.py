"""The parts of bench/run: what `make bench ONLY=network` takes, in which order and for how long."""
import importlib.machinery
import importlib.util
import json
import pathlib
import sys

import pytest

sys.dont_write_bytecode = True
BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import goals  # noqa: E402
import peers  # noqa: E402


@pytest.fixture(scope="module")
def run():
    loader = importlib.machinery.SourceFileLoader("bench_run", str(BENCH / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
    loader.exec_module(module)
    return module


def test_every_goal_has_its_part_and_every_name_is_one_part(run):
    names = [part.name for part in run.ALL_PARTS]
    assert len(names) == len(set(names))
    assert {goal.part for goal in goals.GOALS} <= set(names)


def test_the_networks_parts_take_less_than_an_hour_and_the_others_half_of_one(run):
    seconds = {part.name: part.seconds for part in run.PARTS + run.NETWORK}
    assert sum(seconds[name] for name in run.GROUPS["network"]) < 3600
    assert sum(part.seconds for part in run.PARTS) < 1800


def test_mpi4py_is_asked_for_by_name(run, monkeypatch):
    assert not set(run.GROUPS["mpi4py"]) & set(run.NAMES)
    for words, names in ((["--only", "mpi4py"], ["mpi4py-2", "mpi4py-3"]), ([], run.NAMES)):
        monkeypatch.setattr(sys, "argv", ["run", *words])
        assert run.parse().only == names


def test_the_networks_parts_begin_with_those_that_matter_most(run):
    network = run.GROUPS["network"]
    assert network[:6] == ["tcp-latency", "tcp-bandwidth", "lab-bandwidth", "overlap-receive", "overlap-send", "progress"]
    assert len(network) == len(set(network))
    assert {goal.part for goal in goals.NETWORK_GOALS} <= set(network)


def test_a_job_of_more_ranks_than_processors_has_intel_twice(run, monkeypatch):
    monkeypatch.setattr(peers, "processors", lambda: 2)
    libraries = {key: peers.Library(key, key, pathlib.Path("/"), pathlib.Path("/"), None, {}) for key in peers.ALL}
    chosen = {part.name: list(part.choose(libraries)) for part in run.NETWORK}
    assert chosen["tcp-idle"] == ["lanyard", "mpich", "impi", "impi-wait", "openmpi"]
    assert chosen["tcp-latency"] == list(peers.ALL)
    assert chosen["peer-memory"] == chosen["connect"] == chosen["tcp-checksum"] == ["lanyard"]


def test_the_second_abi_is_measured_by_turns_with_the_first(run, tmp_path, monkeypatch):
    part, = (part for part in run.PARTS if part.name == "abi-cost")
    lanyard = peers.Library("lanyard", "Lanyard", pathlib.Path("/"), pathlib.Path("/"), None, {})
    assert part.choose({"mpich": lanyard}) == {}
    doors = part.choose({"lanyard": lanyard, "mpich": lanyard})
    assert [(key, door.key, door.title) for key, door in doors.items()] == [
        ("lanyard", "lanyard", "libmpi_abi.so.1"), ("mpich-abi", "mpich-abi", "libmpi.so.12")]
    (tmp_path / "bin").mkdir()
    for key, costs in (("lanyard", (4, 100)), ("mpich-abi", (5, 120))):
        rows = [{"name": name, "median": cost, "unit": "ns"} for name, cost in zip(("MPI_Comm_rank", "send and receive to oneself"), costs)]
        program = tmp_path / "bin" / part.own_program(key)
        program.write_text(f"#!/bin/sh\necho '{json.dumps({'results': rows})}'\n")
        program.chmod(0o755)
    monkeypatch.setattr(run.measure, "version", lambda library: "L 1")
    series = run.measure.alternate("abi-cost", doors, 3, lambda library: part.measure_once(library, tmp_path), quiet_seconds=0)
    assert series.failures == {}
    rank, pair = (goal.judge(series, doors) for goal in goals.GOALS if goal.part == "abi-cost")
    assert rank == ("1 (1 to 1) ns", "15 ns", "", "kept")
    assert pair == ("20 (20 to 20) ns", "15 ns", "", "missed")


def test_a_grid_names_the_best_other_and_the_geometric_mean_counts_every_cell(run):
    libraries = {key: peers.Library(key, key.title(), pathlib.Path("/"), pathlib.Path("/"), None, {}) for key in peers.ALL}
    series = run.measure.Series("collectives")
    times = {"lanyard": (2, 10), "mpich": (4, 5), "impi": (8, 40), "openmpi": (9, 20)}
    for key, (bcast, scan) in times.items():
        for number in range(3):
            series.add(libraries[key], number, "1.0", {("bcast", 8): (bcast, "us"), ("scan", 8): (scan, "us")})
    lines = run.report.grid(series, libraries).splitlines()
    assert any(line.startswith("| bcast, 8 B | 2 | 4 | 8 | 9 | 2 ") for line in lines), lines
    assert any(line.startswith("| scan, 8 B | 10 | 5 | 40 | 20 | 0.5 ") for line in lines), lines
    ours, bound, words, verdict = goals.GeometricMean("collectives", "", 1, goals.any_row).judge(series, libraries)
    assert (ours, bound, words, verdict) == ("1", "1", "1 of 2 cells are won", "kept")
    assert goals.GeometricMean("collectives", "", 1, goals.named("scan")).judge(series, libraries)[3] == "missed"


def test_a_grid_of_rates_is_won_by_the_larger(run):
    libraries = {key: peers.Library(key, key.title(), pathlib.Path("/"), pathlib.Path("/"), None, {}) for key in peers.ALL}
    series = run.measure.Series("bandwidth-sizes")
    for key, rates in {"lanyard": (9, 20), "mpich": (2, 10), "impi": (3, 8), "openmpi": (1, 5)}.items():
        for number in range(3):
            series.add(libraries[key], number, "1.0", {16384: (rates[0], "GB/s"), 65536: (rates[1], "GB/s")})
    lines = run.report.grid(series, libraries).splitlines()
    assert any("| 9 | 2 | 3 | 1 | 3 " in line for line in lines), lines
    assert any("| 20 | 10 | 8 | 5 | 2 " in line for line in lines), lines
    mean, each = (goal.judge(series, libraries) for goal in goals.GOALS if goal.part == "bandwidth-sizes")
    assert mean == ("2.45", "1.15", "2 of 2 cells are won", "kept")
    assert each[0].startswith("2 ") and each[3] == "kept"
