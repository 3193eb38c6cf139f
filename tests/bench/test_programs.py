"""Tests the benchmark programs and the heat example of the build named by LANYARD_BUILD: output, error
messages and exit codes."""
import json
import os
import pathlib
import shutil
import struct
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", "build/release")).absolute()
SHORT = ["--blocks", "3", "--block-seconds", "0.001"]


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=100,
                          check=False, **options)


def bench(name, *arguments, ranks=2, **options):
    return run(BUILD / "bin" / "mpirun", "-n", ranks, BUILD / "libexec" / "lanyard" / f"bench-{name}",
               *arguments, **options)


def shared_files():
    return {name for name in os.listdir("/dev/shm") if name.startswith("lanyard-bench")}


@pytest.mark.parametrize(("name", "ranks", "arguments", "rows"), [
    ("latency", 2, ["--sizes", "0,8,100k"], [0, 8, 102400]),
    ("latency", 2, ["--sizes", "8", "--pin"], [8]),
    ("bandwidth", 2, ["--sizes", "1,64k,1M"], [1, 65536, 1048576]),
    ("bandwidth", 4, ["--sizes", "1k", "--window", "3", "--reuse"], [1024]),
    ("rate", 2, [], [8]),
    ("allreduce", 3, ["--sizes", "8,1k,64k"], [8, 1024, 65536]),
    ("allreduce", 1, ["--sizes", "8"], [8]),
    ("barrier", 4, [], ["barrier"]),
    ("line", 2, [], ["line", "mpi", "mpi - line"]),
])
def test_json_has_each_row_with_a_median_inside_its_interval(name, ranks, arguments, rows):
    done = bench(name, *SHORT, "--json", *arguments, ranks=ranks)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert (report["benchmark"], report["ranks"]) == (name, ranks)
    assert report["library"].startswith("Lanyard")
    assert [row.get("bytes", row.get("name")) for row in report["results"]] == rows
    assert ("sent_bytes" in report) == (name in ("latency", "bandwidth", "rate") or
                                        (name == "allreduce" and ranks > 1))
    for row in report["results"]:
        assert row["samples"] == 3 and row["unit"]
        assert row["smallest"] <= row["low"] <= row["median"] <= row["high"] <= row["largest"]
        assert row["median"] > 0 or row["name"] == "mpi - line"


@pytest.mark.parametrize("ranks", [2, 4])
def test_exchange_has_a_row_for_each_skew_and_size(ranks):
    rows = rows_of(bench("exchange", *SHORT, "--sizes", "1k,64k", "--skew", "0,5", "--json", ranks=ranks))
    assert list(rows) == [(f"skew {skew} us", size) for skew in (0, 5) for size in (1024, 65536)]
    assert all(row["unit"] == "us" for row in rows.values())


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_rate_of_tested_messages(ranks):
    """The program itself checks that all messages arrive."""
    rows = rows_of(bench("rate", *SHORT, "--pattern", "tested", "--window", "5", "--sizes", "0,8,100k",
                         "--json", ranks=ranks))
    assert list(rows) == [("tested", size) for size in (0, 8, 102400)]
    assert all(row["unit"] == "M/s" and row["median"] > 0 for row in rows.values())


def test_posted_has_a_row_for_each_size_and_time_of_posting():
    rows = rows_of(bench("posted", *SHORT, "--sizes", "8,300k", "--json"))
    assert list(rows) == [("first", 8), ("first", 307200), ("late", 8), ("late", 307200)]
    assert all(row["unit"] == "us" and row["median"] > 0 for row in rows.values())


@pytest.mark.parametrize(("ranks", "peers"), [(2, "48"), (3, "2"), (4, "3"), (5, "3")])
def test_many_tells_the_rate_and_what_a_process_holds(ranks, peers):
    rows = rows_of(bench("many", *SHORT, "--peers", peers, "--window", "3", "--sizes", "0,256", "--json",
                         ranks=ranks))
    names = [None, "processor", "resident, busy", "resident, quiet", "allocated, busy", "allocated, quiet",
             "descriptors"]
    if os.access("/proc/slabinfo", os.R_OK):
        names += ["kernel, busy", "kernel, quiet"]
    assert list(rows) == [(name, size) for size in (0, 256) for name in names]
    assert all(rows[name, 256]["median"] > 0 for name in (None, "processor"))


def test_rate_of_threads_has_a_row_for_each_number():
    rows = rows_of(bench("rate", *SHORT, "--threads", "1,3,2", "--window", "5", "--sizes", "0,8", "--json"))
    assert list(rows) == [(threads, size) for size in (0, 8)
                          for threads in ("1 thread", "3 threads", "2 threads")]
    assert all(row["unit"] == "M/s" and row["median"] > 0 for row in rows.values())


def test_rate_of_threads_of_several_pairs_is_a_table_too():
    done = bench("rate", *SHORT, "--threads", "2", "--reuse", ranks=4)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines() if not line.startswith("#")]
    assert [(line[0], *line[-3:]) for line in lines] == [("8", "M/s", "2", "threads")]


def test_table_has_a_line_for_each_size():
    done = bench("latency", *SHORT, "--sizes", "8,1k")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines() if not line.startswith("#")]
    assert [line[0] for line in lines] == ["8", "1024"] and all(line[-1] == "us" for line in lines)


@pytest.mark.alone  # other benchmarks create such files while they run
def test_line_leaves_no_file_behind():
    before = shared_files()
    assert bench("line", *SHORT).returncode == 0
    assert shared_files() == before


@pytest.mark.parametrize(("name", "ranks", "arguments", "words"), [
    ("latency", 3, [], "needs 2 ranks, this job has 3"),
    ("line", 1, [], "needs 2 ranks, this job has 1"),
    ("rate", 3, [], "needs an even number of ranks, this job has 3"),
    ("rate", 1, ["--pattern", "tested"], "needs at least 2 ranks, this job has 1"),
    ("rate", 2, ["--pattern", "testd"], "--pattern"),
    ("rate", 2, ["--pattern", "tested", "--threads", "2"], "each rank has one thread"),
    ("rate", 2, ["--pattern", "tested", "--reuse"], "--reuse is for windows"),
    ("exchange", 3, [], "needs an even number of ranks, this job has 3"),
    ("exchange", 2, ["--skew", "-1"], "--skew"),
    ("latency", 2, ["--sizes", "8x"], "'8x' is not a size"),
    ("barrier", 2, ["--sizes", "8"], "has no option '--sizes'"),
    ("rate", 2, ["--window", "0"], "--window"),
    ("rate", 2, ["--threads", "2,0"], "--threads"),
    ("rate", 2, ["--threads", "2", "--pin"], "--pin gives a rank one processor"),
    ("bandwidth", 2, ["--threads", "2"], "has no option '--threads'"),
    ("overlap", 3, [], "needs 2 ranks, this job has 3"),
    ("overlap", 2, ["--parts", "receive,take"], "--parts"),
    ("overlap", 2, ["--block-seconds", "1"], "has no option '--block-seconds'"),
    ("unexpected", 2, ["--messages", "0"], "--messages"),
    ("unidirectional", 1, [], "needs 2 ranks, this job has 1"),
    ("probe", 2, ["--sizes", "8"], "has no option '--sizes'"),
    ("connect", 1, [], "needs 2 ranks or more"),
    ("peers", 2, [], "needs 3 ranks or more"),
    ("latency", 2, ["--beside", "8x"], "'8x' is not a size"),
    ("latency", 2, ["--percentile", "0"], "--percentile"),
])
def test_what_does_not_suit_is_refused_once_with_exit_code_two(name, ranks, arguments, words):
    done = bench(name, *arguments, ranks=ranks)
    assert done.returncode == 2
    assert done.stderr.count(words) == 1, done.stderr
    assert done.stdout == ""


def test_help_is_printed_once():
    done = bench("latency", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Usage: bench-latency") == 1


def test_startup_says_nothing():
    done = bench("startup", ranks=4)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def rows_of(done):
    """Returns {(name, bytes): row} from a program's JSON. The median of each row must lie inside its
    interval."""
    assert (done.returncode, done.stderr) == (0, "")
    rows = {(row.get("name"), row.get("bytes")): row for row in json.loads(done.stdout)["results"]}
    assert all(row["smallest"] <= row["low"] <= row["median"] <= row["high"] <= row["largest"]
               for row in rows.values())
    return rows


def named_sizes(parts, quantities, sizes):
    return {(part + quantity, size) for part in parts for quantity in quantities for size in sizes}


OVERLAP = [" alone", " work alone", " total", " wait", " overlap", " wait share", " work slowed"]
USE = ["", ", sender's processor", ", receiver's processor"]


def test_overlap_tells_wait_and_total_for_each_part_and_size():
    rows = rows_of(bench("overlap", "--blocks", "3", "--sizes", "8,64k", "--json"))
    assert set(rows) == named_sizes(["receive", "send", "alltoall", "allreduce"], OVERLAP, [8, 65536])
    for (name, size), row in rows.items():
        assert row["unit"] == ("%" if name.split()[-1] in ("overlap", "share", "slowed")
                               else "us"), (name, size)


def test_overlap_does_the_work_it_is_told():
    few, many = (rows_of(bench("overlap", "--blocks", "3", "--parts", "receive", "--sizes", "8",
                               "--iterations", number, "--json"))
                 for number in ("1000", "10000000"))
    # There is 10,000 times as much work. The bound is much lower, because a processor's speed may double
    # between two samples.
    for what in ("receive work alone", "receive total"):
        assert many[what, 8]["median"] > 20 * few["receive work alone", 8]["median"]


def test_unidirectional_tells_what_both_sides_take():
    rows = rows_of(bench("unidirectional", *SHORT, "--sizes", "8,100k", "--window", "5", "--json"))
    assert set(rows) == named_sizes(["expected", "unexpected"], USE, [8, 102400])


def test_probe_has_every_row():
    rows = rows_of(bench("probe", *SHORT, "--json"))
    assert [name for name, _ in rows] == ["nothing from a rank", "nothing from anyone", "received", "probed",
                                          "found"]
    assert all(row["median"] > 0 for row in rows.values())


def test_unexpected_counts_memory_and_time():
    rows = rows_of(bench("unexpected", "--messages", "3000", "--json"))
    assert set(rows) == {("memory", None), ("receive", None)}
    assert rows["receive", None]["median"] > 0


def test_connect_tells_first_and_second_messages():
    done = bench("connect", "--json", ranks=5)
    rows = rows_of(done)
    assert [(name, row["unit"]) for (name, _), row in rows.items()] == [
        ("MPI_Init", "ms"), ("first message", "us"), ("second message", "us"), ("first with everybody", "ms"),
        ("second with everybody", "ms")]
    assert rows["first message", None]["samples"] == 4
    assert all(row["smallest"] > 0 for row in rows.values())


def test_peers_counts_a_connection_for_each():
    rows = rows_of(bench("peers", "--json", ranks=4, env={**os.environ, "LANYARD_PATHS": "self,tcp"}))
    assert [name for name, _ in rows] == ["allocated", "resident", "descriptors", "allocated by the first",
                                          "resident by the first"]
    assert rows["descriptors", None]["median"] == 1


@pytest.mark.thorough
def test_memory_of_datagrams_is_within_its_bounds():
    """Checks the memory of real ranks and of the tables for 16,384 processes.

    The paper on unreliable datagrams reports 0.44 KB for each process and 40 MB for all.
    """
    done = run(BUILD / "bin" / "lanyard", "bench", "memory", "--ranks", "5", "--json")
    rows = {name: row["median"] for (name, _), row in rows_of(done).items()}
    assert rows["tcp, descriptors"] == 1 and rows["dgram, descriptors"] == rows["shm, descriptors"] == 0
    assert 100 < rows["dgram, talked to of 16384"] <= 450
    assert 1e6 < rows["dgram, all of 16384"] <= 16e6
    assert 0 < rows["dgram, talked to, allocated"] <= 450
    assert (0 < rows["tcp, known of 16384"] and
            rows["tcp, talked to, allocated"] > rows["dgram, talked to, allocated"])


@pytest.mark.thorough
def test_memory_sets_ours_beside_the_paper():
    done = run(BUILD / "bin" / "lanyard", "bench", "memory", "--ranks", "3")
    assert done.returncode == 0, done.stderr
    for words in (
            "InfiniBand, unreliable datagrams             0.44 KB                   0                   "
            "40 MB",
            "Lanyard over TCP ", "Lanyard over datagrams ",
            "structures            contexts                 buffers"):
        assert words in done.stdout
    assert run(BUILD / "bin" / "lanyard", "bench", "memory", "--ranks", "2").returncode == 2


def test_latency_beside_a_transfer_is_named_so():
    rows = rows_of(bench("latency", *SHORT, "--sizes", "8", "--beside", "1M", "--json"))
    assert set(rows) == {("beside 1048576", 8), ("beside 1048576, its rate", 8)}


def test_percentiles_of_latency_are_named_and_grow():
    def grow():
        all_rows = {}
        for percent in ("50", "100"):
            words = ["--blocks", "3", "--block-seconds", "0.02", "--sizes", "8,1k", "--percentile", percent]
            all_rows.update(rows_of(bench("latency", *words, "--json")))
        assert set(all_rows) == {(f"percentile {percent}", size) for percent in ("50", "100")
                                 for size in (8, 1024)}
        assert all(row["unit"] == "us" and row["samples"] == 3 for row in all_rows.values())
        return all(all_rows["percentile 50", size]["smallest"] < all_rows["percentile 100", size]["largest"]
                   for size in (8, 1024))

    assert any(grow() for _ in range(5))  # these are two runs, and other work may disturb only the first


def test_bare_udp_has_the_rows_that_fit_into_a_datagram():
    done = run(BUILD / "bin" / "lanyard", "bench", "udp", "latency", *SHORT, "--sizes", "0,8,65507,64k",
               "--json")
    assert set(rows_of(done)) == {(None, 0), (None, 8), (None, 65507)}
    report = json.loads(done.stdout)
    assert ((report["benchmark"], report["library"]) == ("udp latency", "raw UDP") and
            report["sent_bytes"] > 65507)


@pytest.mark.parametrize(("pattern", "arguments", "rows"), [
    ("latency", [*SHORT, "--sizes", "0,8,100k"], {(None, 0), (None, 8), (None, 102400)}),
    ("bandwidth", [*SHORT, "--sizes", "1,64k", "--window", "3", "--reuse"], {(None, 1), (None, 65536)}),
    ("unidirectional", [*SHORT, "--sizes", "1k"], named_sizes(["expected"], USE, [1024])),
    ("allreduce", [*SHORT, "--sizes", "8,1k", "--ranks", "11"], {(None, 8), (None, 1024)}),
    ("overlap", ["--blocks", "3", "--sizes", "8,1M"],
     named_sizes(["receive", "send", "alltoall"], OVERLAP, [8, 1 << 20])),
])
def test_bare_tcp_has_the_rows_of_the_program_beside_it(pattern, arguments, rows):
    done = run(BUILD / "bin" / "lanyard", "bench", "tcp", pattern, "--json", *arguments)
    assert set(rows_of(done)) == rows


def test_the_other_end_of_bare_tcp_is_started_by_a_shell(tmp_path):
    shell = tmp_path / "shell"
    shell.write_text('#!/bin/sh\necho "$1 $2" >"$0.host"\nshift; exec "$@"\n')
    shell.chmod(0o755)
    elsewhere = ["--shell", f"{shell} h2", "--address", "127.0.0.2"]
    done = run(BUILD / "bin" / "lanyard", "bench", "tcp", "latency", *SHORT, "--sizes", "8", "--json",
               *elsewhere)
    assert set(rows_of(done)) == {(None, 8)}
    assert (tmp_path / "shell.host").read_text().startswith("h2 /")


@pytest.mark.parametrize(("arguments", "code", "words"), [
    ([], 2, "which pattern?"),
    (["rate"], 2, "there is no pattern 'rate'"),
    (["latency", "--address", "999.1.1.1"], 1, "not an IPv4 address"),
    (["latency", "--window", "3"], 2, "has no option '--window'"),
    (["allreduce", "--address", "127.0.0.1"], 2, "has no option '--address'"),
    (["overlap", "--parts", "allreduce"], 2, "--parts"),
    (["latency", "--sizes", "8", "--shell", "false"], 1, "the other end did not start"),
])
def test_bare_tcp_refuses_with_a_sentence(arguments, code, words):
    done = run(BUILD / "bin" / "lanyard", "bench", "tcp", *arguments)
    assert done.returncode == code
    assert words in done.stderr and done.stdout == ""


@pytest.mark.parametrize(("arguments", "code", "words"), [
    ([], 2, "which pattern?; there is latency."),
    (["bandwidth"], 2, "there is no pattern 'bandwidth'"),
    (["latency", "--sizes", "64k", "--json"], 1, "a datagram has at most 65507 bytes"),
])
def test_bare_udp_refuses_with_a_sentence(arguments, code, words):
    done = run(BUILD / "bin" / "lanyard", "bench", "udp", *arguments)
    assert done.returncode == code
    assert words in done.stderr and done.stdout == ""


@pytest.mark.thorough
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="limits bounces a line between two processors")
def test_limits_has_every_part():
    done = run(BUILD / "libexec" / "lanyard" / "bench-limits", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["results"]}
    assert {"line", "memcpy", "tcp", "udp", "tcp-64", "tcp-1048576", "through slots",
            "through slots, both ways at once"} <= set(rows)
    assert all(row["median"] > 0 for row in rows.values())
    assert ("cma" in rows) != ("process_vm_readv is refused" in done.stderr)
    sizes = [row["bytes"] for row in json.loads(done.stdout)["results"] if row["name"] == "through slots"]
    assert sizes == [1 << power for power in range(12, 23)]


@pytest.mark.thorough
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="limits bounces a line between two processors")
def test_limits_with_copies_has_every_method():
    done = run(BUILD / "libexec" / "lanyard" / "bench-limits", "--copies")
    assert done.returncode == 0, done.stderr
    for method in ("memcpy, slots of 4 KiB", "memcpy, slots of 64 KiB"):
        lines = [line for line in done.stdout.splitlines() if line.endswith(f"through slots, {method}")]
        assert len(lines) == 11, method
    assert "# through slots, fastest:" in done.stdout


@pytest.mark.parametrize(("arguments", "code", "words"), [
    (["999.1.1.1"], 1, "not an IPv4 address"),
    (["192.0.2.1"], 1, "bind to the address"),
    (["--jsn"], 2, "has no option '--jsn'; did you mean '--json'?"),
])
def test_limits_refuses_with_a_sentence(arguments, code, words):
    done = run(BUILD / "libexec" / "lanyard" / "bench-limits", *arguments)
    assert done.returncode == code
    assert words in done.stderr and done.stdout == ""


def png_size(path):
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24])


@pytest.mark.skipif(not (BUILD / "examples" / "heat").exists(),
                    reason="libpng is missing, so examples/heat was not built")
def test_heat_gives_the_same_picture_for_any_number_of_ranks(tmp_path):
    pictures = {}
    for ranks in (1, 3, 4):
        path = tmp_path / f"{ranks}.png"
        done = run(BUILD / "bin" / "mpirun", "-n", ranks, BUILD / "examples" / "heat", path, "600")
        assert (done.returncode, done.stderr) == (0, "")
        assert f"on {ranks} ranks" in done.stdout and "100 %" in done.stdout
        assert png_size(path) == (480, 480)
        pictures[ranks] = path.read_bytes()
    assert pictures[1] == pictures[3] == pictures[4]


@pytest.mark.skipif(not (BUILD / "examples" / "heat").exists(),
                    reason="libpng is missing, so examples/heat was not built")
def test_heat_says_where_it_cannot_write():
    done = run(BUILD / "bin" / "mpirun", "-n", 2, BUILD / "examples" / "heat", "/no/such/folder/heat.png",
               "10")
    assert done.returncode != 0
    assert "heat: cannot write /no/such/folder/heat.png" in done.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="make is missing")
def test_heat_builds_with_mpicc_by_its_own_makefile(tmp_path):
    source = pathlib.Path(__file__).resolve().parents[2] / "examples" / "heat"
    shutil.copytree(source, tmp_path / "heat")
    done = run("make", "-C", tmp_path / "heat", f"MPICC={BUILD / 'bin' / 'mpicc'}")
    assert done.returncode == 0, done.stdout + done.stderr
    done = run(BUILD / "bin" / "mpirun", "-n", 2, tmp_path / "heat" / "heat", tmp_path / "heat.png", "10")
    assert done.returncode == 0, done.stderr
