"""Tests bench/report: the committed page must follow from its data, and errors must be reported in a
sentence."""
import json
import pathlib
import subprocess
import sys

import pytest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import page  # noqa: E402
import series_file  # noqa: E402
from measure import Series  # noqa: E402
from record import Record, Summary  # noqa: E402


def report(*words):
    return subprocess.run([sys.executable, ROOT / "bench" / "report", *words], capture_output=True, text=True,
                          timeout=60, check=False)


def test_the_page_of_the_repository_is_what_its_data_gives():
    done = report("--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_every_series_is_on_the_page():
    made = page.Page()
    text = made.text()
    assert [name for name in made.records if f"results/{name}.json" not in text] == []
    assert {record.group for record in made.records.values()} <= set(page.COMMANDS)


@pytest.fixture
def folder(tmp_path):
    """Makes a small folder like bench: one series of summaries, one series of samples, and a goal of each."""
    results = tmp_path / "results"
    results.mkdir()
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "rate.svg").touch()
    series = Series("rate, 2 ranks")
    series.units = {8: "M/s"}
    libraries = {"lanyard": "Lanyard", "mpich": "MPICH"}
    summaries = {"lanyard": {8: Summary(2)}, "mpich": {8: Summary(1, ratio=None)}}
    known = {"group": "shared memory", "libraries": libraries, "first": "lanyard"}
    series_file.write(results / "rate.json", Record(series, name="rate", summaries=summaries, **known))
    sampled = Series("startup, 4 ranks")
    row = "startup of 4 ranks"
    sampled.units, sampled.values = {row: "ms"}, {"lanyard": {row: [61.0] * 3}, "mpich": {row: [122.0] * 3}}
    series_file.write(results / "startup.json", Record(sampled, name="startup", commit="1234567", **known))
    goals = [{"series": name, "goal": f"{name}, at least", "ours": "2 M/s", "bound": "1 M/s",
              "others": "MPICH 1", "verdict": "kept"} for name in ("rate", "startup")]
    (results / "goals.json").write_text(json.dumps({"format": 1, "goals": goals}))
    (results / "page.md").write_text("# Results\n\nA paragraph that\nis wrapped.\n"
                                     "- an item\n  of two lines\n\n{{goals}}\n\n{{plots rate}}\n\n"
                                     "{{series shared memory}}\n\n"
                                     "{{grid rate: 8 B}}\n")
    return tmp_path


def test_goals_of_samples_are_judged_afresh_and_missed_ones_come_first(folder):
    assert report("--folder", folder).returncode == 0
    lines = (folder / "RESULTS.md").read_text().splitlines()
    rows = [line for line in lines if line.endswith("| missed |") or line.endswith("| kept |")]
    startup = "4 ranks of MPI_Init and MPI_Finalize, at most"
    assert rows == [f"| {startup} | 61 (61 to 61) ms | 60 ms | MPICH 122 | missed |",
                    "| rate, at least | 2 M/s | 1 M/s | MPICH 1 | kept |"]
    assert "A paragraph that is wrapped." in lines and "- an item of two lines" in lines
    figures = "1 | 0 | 0 | 2 | 2 at startup of 4 ranks"
    assert f"| [startup](results/startup.json) |  | {figures} | 1234567 |" in lines
    assert "![rate, 2 ranks](plots/rate.svg)" in lines
    assert "| rate, M/s | Lanyard | MPICH |" in lines and "| 8 B | 2 | 1 |" in lines
    assert report("--check", "--folder", folder).returncode == 0


def test_a_page_that_is_not_made_from_the_data_is_refused(folder):
    report("--folder", folder)
    (folder / "RESULTS.md").write_text("# Results\n")
    done = report("--check", "--folder", folder)
    assert done.returncode == 1 and "is not what the files of" in done.stderr
    assert (folder / "RESULTS.md").read_text() == "# Results\n"


def test_a_page_of_too_many_lines_is_refused(folder):
    text = folder / "results" / "page.md"
    text.write_text(text.read_text() + "- one\n" * 400)
    done = report("--folder", folder)
    assert done.returncode == 1 and "lines; at most 400: shorten a text" in done.stderr


def test_a_picture_that_is_missing_is_reported(folder):
    (folder / "plots" / "rate.svg").unlink()
    done = report("--folder", folder)
    assert done.returncode == 1 and "shows plots/rate.svg, which does not exist" in done.stderr


@pytest.mark.parametrize(("line", "words"), [
    ("{{tables}}", "page.md, line 1: there is no 'tables'; there are include, "),
    ("{{plots latency}}", "line 1: there is no series 'latency'"),
    ("{{series networks}}", "there is no group 'networks'; there are shared memory, "),
    ("{{grid rate: 9 B}}", "the series 'rate' has no row '9 B'"),
    ("{{include none.md}}", "there is no text 'none.md'"),
])
def test_a_text_that_asks_for_what_is_not_there_is_reported_with_its_line(folder, line, words):
    (folder / "results" / "page.md").write_text(line + "\n")
    done = report("--folder", folder)
    assert done.returncode == 1 and words in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_goal_of_an_unknown_series_is_reported(folder):
    (folder / "results" / "rate.json").unlink()
    done = report("--check", "--folder", folder)
    assert done.returncode == 1
    assert "goals.json has a goal of 'rate', and there is no such series" in done.stderr


def test_the_pictures_of_samples_are_drawn(folder):
    pytest.importorskip("matplotlib")
    text = folder / "results" / "page.md"
    text.write_text("{{plots rate startup}}\n")
    assert report("--folder", folder).returncode == 0
    assert "<svg" in (folder / "plots" / "startup.svg").read_text()
    assert (folder / "plots" / "rate.svg").read_text() == ""
