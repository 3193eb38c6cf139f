"""Tests bench/idle.py with made-up launchers, and bench-idle of the build named by LANYARD_BUILD."""
import os
import pathlib
import sys
import time

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import idle  # noqa: E402
import measure  # noqa: E402
import peers  # noqa: E402

BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", "build/release")).absolute()


@pytest.fixture(autouse=True)
def no_version(monkeypatch):
    monkeypatch.setattr(idle, "version", lambda library: "L 1")


def job(script):
    """Returns a library whose launcher runs a shell script instead of a job."""
    return peers.Library("one", "One", pathlib.Path("/"), pathlib.Path("/none"),
                         lambda ranks: ["/bin/sh", "-c", script], {})


def share(script, ranks=2):
    version, rows = idle.run_idle(job(script), ranks, seconds=0.5)
    (value, unit) = rows["all ranks wait"]
    assert (version, unit) == ("L 1", "%")
    return value


def test_ranks_that_sleep_take_next_to_nothing():
    assert share("sleep 30 & sleep 30 & echo all 2 ranks wait; wait") < 20  # per cent of one processor


def test_a_grandchild_that_spins_is_seen_and_ended(tmp_path):
    note = tmp_path / "pid"
    spin = f"(sh -c 'echo $$ >{note}; while :; do :; done' & wait) & sleep 30 & echo all 2 ranks wait; wait"
    assert share(spin) > 1  # per cent of one processor; other processes use it too
    deadline = time.monotonic() + 60
    while idle.stat_of(note.read_text().strip()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert idle.stat_of(note.read_text().strip()) is None


@pytest.mark.parametrize(("script", "words"), [
    ("echo broken >&2; exit 3", "exit code 3: broken"),
    ("echo all 64 ranks wait; sleep 30", "too few for 64 ranks"),
])
def test_a_job_that_does_not_wait_is_told_with_its_words(script, words):
    with pytest.raises(measure.Failed, match=words):
        share(script, ranks=64)


def test_a_job_that_never_says_that_it_waits_is_ended(monkeypatch):
    monkeypatch.setattr(idle, "START_LIMIT_SECONDS", 0.3)
    with pytest.raises(measure.Failed, match="do not wait after"):
        share("sleep 30")


@pytest.mark.parametrize("paths", ["", "self,tcp"])
def test_ranks_of_lanyard_wait_asleep(paths):
    library = peers.lanyard(BUILD)
    library.environment = {"LANYARD_PATHS": paths} if paths else {}
    _, rows = idle.run_idle(library, 3, seconds=1)
    # The goal of bench/run is 1 %. The bound is larger because there may be sanitizers or other work on the
    # machine.
    assert rows["all ranks wait"][0] < 50
