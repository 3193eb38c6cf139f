"""Tests which lines LANYARD_LOG shows for each level and part. Two ranks exchange a message of 1 MiB and call
a barrier."""
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", "build/release")).absolute()
LINE = re.compile(r"lanyard rank (\d) \[(\w+)\] (.+)")


def logged(specification, *options, **settings):
    """The lines of a short benchmark as (rank, part, text). Standard error must contain nothing else."""
    command = [BUILD / "bin" / "mpirun", "-n", "2", BUILD / "libexec" / "lanyard" / "bench-latency",
               "--blocks", "1", "--block-seconds", "1e-6", *(options or ("-s", "1M"))]
    done = subprocess.run(command, env={**os.environ, "LANYARD_LOG": specification, **settings},
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    matches = [LINE.fullmatch(line) for line in done.stderr.splitlines()]
    assert all(matches), done.stderr
    return [match.groups() for match in matches]


def words(lines, part):
    return "\n".join(text for _, named, text in lines if named == part)


def test_debug_tells_each_decision():
    lines = logged("debug", LANYARD_EAGER_LIMIT="8k")
    assert {part for _, part, _ in lines} >= {"settings", "launch", "paths", "shm", "comm", "coll"}
    assert ("LANYARD_EAGER_LIMIT=8192" in words(lines, "settings") and
            "LANYARD_CMA" not in words(lines, "settings"))
    assert re.search(r"rank 1 of 2 in job \w+, started by mpirun; rank 1 of 2 on this node",
                     words(lines, "launch"))
    assert re.search(r"made the node's segment: \d+ KiB for 2 processes", words(lines, "shm"))
    assert len(re.findall(r"attached to the node's segment: \d+ KiB of addresses", words(lines, "shm"))) == 2
    assert len(re.findall(r"opened a ring of \d+ KiB to peer [01]", words(lines, "shm"))) == 2
    assert re.search(r"direct copies from process \d+ are (allowed|refused)", words(lines, "shm"))
    assert re.search(r"communicator with context 0x[0-9a-f]+: rank 1 of 2, members: 0 1",
                     words(lines, "comm"))
    chosen = [line for line in lines if "barrier of 2 processes from 0 bytes on goes by" in line[2]]
    assert sorted(rank for rank, *_ in chosen) == ["0", "1"], "each rank says it once"


@pytest.mark.parametrize("parts", [{"shm"}, {"comm", "coll"}])
def test_only_the_parts_asked_for(parts):
    assert {part for _, part, _ in logged(",".join(["debug", *parts]))} == parts


def test_debug_of_one_part_shows_that_part_only():
    assert logged("debug,p2p") == [], "its steps belong to trace"
    assert {part for _, part, _ in logged("trace,p2p")} == {"p2p"}


def test_trace_follows_a_rendezvous():
    text = words(logged("trace,p2p"), "p2p")
    number = re.search(r"peer 1: 1048576 bytes as rendezvous (0x[0-9a-f]+): at most 65536 are sent at once",
                       text)[1]
    for step in (r"of 1048576 bytes offered, (for direct copies too|in bulk only)",
                 "answered: 1048576 bytes wanted", "finished: (copied directly|all is sent in bulk)",
                 "(finished: the receiver has everything|finished: received in bulk)"):
        assert re.search(rf"rendezvous {number}:? {step}", text), step


def test_trace_tells_what_goes_in_bulk():
    text = words(logged("trace,p2p", LANYARD_CMA="off"), "p2p")
    for step in ("1048576 bytes offered, in bulk only", "asks for 1048576 bytes in bulk",
                 "1048576 bytes go in bulk, as the receiver asks", "finished: all is sent in bulk",
                 "finished: received in bulk"):
        assert step in text, step


def test_trace_tells_when_credit_is_spent():
    text = words(logged("trace,p2p", "-s", "1k", LANYARD_EAGER_CREDIT="0"), "p2p")
    assert ("1024 bytes as rendezvous" in text and
            "the receiver has not yet taken what it was sent (credit 0)" in text)


def test_short_messages_say_nothing():
    assert logged("trace,p2p", "-s", "8") == []


def test_parts_in_the_source_are_those_of_the_table():
    header = (ROOT / "src" / "base" / "log.h").read_text()
    table = set(re.findall(r'\{"(\w+)", "', header.partition("log_parts[] = {")[2].partition("};")[0]))
    used = set()
    for file in (ROOT / "src").rglob("*.cc"):
        used |= set(re.findall(r'\blog\(LogLevel::\w+, "(\w+)"', file.read_text()))
    assert used == table
