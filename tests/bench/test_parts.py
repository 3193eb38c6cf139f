"""Tests the parts of bench/run: what `make bench ONLY=network` runs, in which order, and how long it
takes."""
import functools
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
import measure  # noqa: E402
import page  # noqa: E402
import parts  # noqa: E402
import peers  # noqa: E402
import recording  # noqa: E402
import series_file  # noqa: E402
import tables  # noqa: E402


@pytest.fixture(scope="module")
def run():
    loader = importlib.machinery.SourceFileLoader("bench_run", str(BENCH / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
    loader.exec_module(module)
    return module


def test_every_goal_has_its_part_and_every_name_is_one_part():
    names = [part.name for part in parts.ALL_PARTS]
    assert len(names) == len(set(names))
    assert {goal.part for goal in goals.GOALS} <= set(names)


def test_every_series_has_a_section_of_the_page():
    names = ["limits", "instructions", *(part.name for part in parts.ALL_PARTS)]
    sections = {name: parts.section_of(name) for name in names}
    assert set(sections.values()) == set(page.COMMANDS)
    some = {"limits": "shared memory", "schedule": "collectives", "abi-cost": "abi",
            "posted-tcp": "applications", "start-16": "network", "allreduce": "shared memory",
            "rate-threads": "threads", "dgram-memory": "datagrams"}
    assert {name: sections[name] for name in some} == some


def test_the_networks_parts_take_less_than_an_hour_and_the_others_half_of_one():
    seconds = {part.name: part.seconds for part in parts.PARTS + parts.NETWORK}
    assert sum(seconds[name] for name in parts.GROUPS["network"]) < 3600
    assert sum(part.seconds for part in parts.PARTS) < 1800


def made_up(library):
    factor = {"lanyard": 1.0, "mpich": 2.0}[library.key]
    return "1.0", {("bcast", 8): (factor, "us"), ("bcast", 64): (2 * factor, "us")}


def test_each_part_is_written_and_recorded_when_it_ends(run, tmp_path, monkeypatch, capsys):
    libraries = {key: peers.Library(key, key.title(), tmp_path, tmp_path, None, {})
                 for key in ("lanyard", "mpich")}
    counts = {"": {"MPI_Send": 195}, "MPI_THREAD_MULTIPLE": {"MPI_Send": 207}}
    limits = [{"name": "line", "median": 60.0, "unit": "ns"}]
    (tmp_path / "bench-limits").write_text(f"#!/bin/sh\necho '{json.dumps({'results': limits})}'\n")
    (tmp_path / "bench-limits").chmod(0o755)
    monkeypatch.setattr(parts.Part, "measure_once", lambda part, library, build: made_up(library))
    monkeypatch.setattr(measure, "wait_until_quiet", lambda seconds: 0.0)
    monkeypatch.setattr(peers, "find", lambda *words: libraries)
    monkeypatch.setattr(run.instructions, "missing", lambda build: "")
    monkeypatch.setattr(run.instructions, "columns_of", lambda build: counts)
    monkeypatch.setattr(run.instructions, "LOOPS", {"MPI_Send": ()})
    monkeypatch.setattr(recording, "keep", functools.partial(recording.keep, results=tmp_path / "results"))
    monkeypatch.setattr(sys, "argv", ["run", "--only", "limits,instructions,latency,collectives-2",
                                      "--record", "--rounds", "2", "--libraries", "lanyard,mpich",
                                      "--prefix", str(tmp_path), "--out", str(tmp_path / "out")])
    assert run.main() == 0
    records = series_file.read_all(tmp_path / "results")
    assert {name: record.group for name, record in records.items()} == {
        "limits": "shared memory", "instructions": "shared memory", "latency": "shared memory",
        "collectives-2": "collectives"}
    assert records["latency"].series.values["mpich"] == {("bcast", 8): [2.0, 2.0], ("bcast", 64): [4.0, 4.0]}
    assert records["latency"].ranks == 2 and records["collectives-2"].layout == "grid"
    assert records["instructions"].series.values["MPI_THREAD_SINGLE"] == {"MPI_Send": [195]}
    assert records["limits"].series.values == {"machine": {"line": [60.0]}}
    assert "| bcast, 8 B | Mpich | 2 (2 to 2) |" in (tmp_path / "out" / "tables.md").read_text()
    words = "recorded in bench/results: latency, collectives-2, limits, instructions"
    assert words in capsys.readouterr().err


def test_mpi4py_is_asked_for_by_name(run, monkeypatch):
    assert not set(parts.GROUPS["mpi4py"]) & set(parts.NAMES)
    for words, names in ((["--only", "mpi4py"], ["mpi4py-2", "mpi4py-3"]), ([], parts.NAMES)):
        monkeypatch.setattr(sys, "argv", ["run", *words])
        assert run.parse().only == names


def test_the_networks_parts_begin_with_those_that_matter_most():
    network = parts.GROUPS["network"]
    assert network[:6] == ["tcp-latency", "tcp-bandwidth", "lab-bandwidth", "overlap-receive", "overlap-send",
                           "progress"]
    assert len(network) == len(set(network))
    assert {goal.part for goal in goals.NETWORK_GOALS} <= set(network)


def test_a_job_of_more_ranks_than_processors_has_intel_twice(monkeypatch):
    monkeypatch.setattr(peers, "processors", lambda: 2)
    libraries = {key: peers.Library(key, key, pathlib.Path("/"), pathlib.Path("/"), None, {})
                 for key in peers.ALL}
    chosen = {part.name: list(part.choose(libraries)) for part in parts.NETWORK}
    assert chosen["tcp-idle"] == ["lanyard", "mpich", "impi", "impi-wait", "openmpi"]
    assert chosen["tcp-latency"] == list(peers.ALL)
    assert chosen["peer-memory"] == chosen["connect"] == chosen["tcp-checksum"] == ["lanyard"]


def test_the_second_abi_is_measured_by_turns_with_the_first(tmp_path, monkeypatch):
    part, = (part for part in parts.PARTS if part.name == "abi-cost")
    lanyard = peers.Library("lanyard", "Lanyard", pathlib.Path("/"), pathlib.Path("/"), None, {})
    assert part.choose({"mpich": lanyard}) == {}
    doors = part.choose({"lanyard": lanyard, "mpich": lanyard})
    assert [(key, door.key, door.title) for key, door in doors.items()] == [
        ("lanyard", "lanyard", "libmpi_abi.so.1"), ("mpich-abi", "mpich-abi", "libmpi.so.12")]
    (tmp_path / "bin").mkdir()
    for key, costs in (("lanyard", (4, 100)), ("mpich-abi", (5, 120))):
        rows = [{"name": name, "median": cost, "unit": "ns"}
                for name, cost in zip(("MPI_Comm_rank", "send and receive to oneself"), costs)]
        program = tmp_path / "bin" / part.own_program(key)
        program.write_text(f"#!/bin/sh\necho '{json.dumps({'results': rows})}'\n")
        program.chmod(0o755)
    monkeypatch.setattr(measure, "version", lambda library: "L 1")
    series = measure.alternate("abi-cost", doors, 3, lambda library: part.measure_once(library, tmp_path),
                                   quiet_seconds=0)
    assert series.failures == {}
    rank, pair = (goal.judge(series, doors) for goal in goals.GOALS if goal.part == "abi-cost")
    assert rank == ("1 (1 to 1) ns", "15 ns", "", "kept")
    assert pair == ("20 (20 to 20) ns", "15 ns", "", "missed")


def test_a_grid_names_the_best_other_and_the_geometric_mean_counts_every_cell():
    libraries = {key: peers.Library(key, key.title(), pathlib.Path("/"), pathlib.Path("/"), None, {})
                 for key in peers.ALL}
    series = measure.Series("collectives")
    times = {"lanyard": (2, 10), "mpich": (4, 5), "impi": (8, 40), "openmpi": (9, 20)}
    for key, (bcast, scan) in times.items():
        for number in range(3):
            series.add(libraries[key], number, "1.0",
                       {("bcast", 8): (bcast, "us"), ("scan", 8): (scan, "us")})
    lines = tables.grid(series, libraries).splitlines()
    assert any(line.startswith("| bcast, 8 B | 2 | 4 | 8 | 9 | 2 ") for line in lines), lines
    assert any(line.startswith("| scan, 8 B | 10 | 5 | 40 | 20 | 0.5 ") for line in lines), lines
    ours, bound, words, verdict = goals.GeometricMean("collectives", "", 1,
                                                      goals.any_row).judge(series, libraries)
    assert (ours, bound, words, verdict) == ("1", "1", "1 of 2 cells are won", "kept")
    assert goals.GeometricMean("collectives", "", 1,
                               goals.named("scan")).judge(series, libraries)[3] == "missed"


def test_a_grid_of_rates_is_won_by_the_larger():
    libraries = {key: peers.Library(key, key.title(), pathlib.Path("/"), pathlib.Path("/"), None, {})
                 for key in peers.ALL}
    series = measure.Series("bandwidth-sizes")
    for key, rates in {"lanyard": (9, 20), "mpich": (2, 10), "impi": (3, 8), "openmpi": (1, 5)}.items():
        for number in range(3):
            series.add(libraries[key], number, "1.0", {16384: (rates[0], "GB/s"), 65536: (rates[1], "GB/s")})
    lines = tables.grid(series, libraries).splitlines()
    assert any("| 9 | 2 | 3 | 1 | 3 " in line for line in lines), lines
    assert any("| 20 | 10 | 8 | 5 | 2 " in line for line in lines), lines
    mean, each = (goal.judge(series, libraries) for goal in goals.GOALS if goal.part == "bandwidth-sizes")
    assert mean == ("2.45", "1.3", "2 of 2 cells are won", "kept")
    assert each[0].startswith("2 ") and each[3] == "kept"
