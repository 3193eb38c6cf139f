"""Tests bench/hpcc.py: it must read HPCC's report, refuse wrong results, and write what HPCC reads."""
import pathlib
import stat
import sys

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import hpcc  # noqa: E402
import measure  # noqa: E402
import peers  # noqa: E402

REPORT = "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 0.0048 PASSED\nBegin of Summary section.\n" + (
    "".join(f"{name}={number}\n" for number, (_, name, _, _) in enumerate(hpcc.ROWS, 1)) +
    "CPS_HPL=undefined\nSuccess=1\nEnd of Summary section.\n")
# Stands for the launcher and for HPCC: it checks its input and writes the report.
LAUNCHER = """#!/bin/sh
[ "$(sed -n 11,12p hpccinf.txt | tr '\\n' ' ')" = "2 Ps 3 Qs " ] || exit 3
[ "$OPENBLAS_NUM_THREADS" = 1 ] || exit 4
cp {report} hpccoutf.txt
"""


@pytest.fixture(name="library")
def make_library(tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "version", lambda library: "Made-up 1")
    (tmp_path / "report").write_text(REPORT)
    launcher = tmp_path / "launcher"
    launcher.write_text(LAUNCHER.format(report=tmp_path / "report"))
    launcher.chmod(launcher.stat().st_mode | stat.S_IXUSR)
    return peers.Library("mpich", "MPICH", tmp_path, None, lambda ranks: [str(launcher), str(ranks)], {})


def test_a_run_gives_the_figures_of_the_report(library):
    version, rows = hpcc.run(library, 6, "hpcc")
    assert version == "Made-up 1"
    assert rows["HPL"] == (1000.0, "GFLOP/s") and rows["MPIFFT"] == (5.0, "GFLOP/s")
    assert rows["ring latency, random"] == (len(hpcc.ROWS), "us") and len(rows) == len(hpcc.ROWS)


@pytest.mark.parametrize("change, words", [
    (("Success=1", "Success=0"), "a wrong result"), (("PASSED", "FAILED"), "a wrong result"),
    (("MPIFFT_Gflops=5\n", ""), "lacks MPIFFT_Gflops"), (("Begin of Summary", "No summary"), "no summary")])
def test_a_report_that_is_not_whole_and_right_is_a_failure(change, words):
    with pytest.raises(measure.Failed, match=words):
        hpcc.read(REPORT.replace(*change))


def test_a_missing_report_is_a_failure(library, tmp_path):
    (tmp_path / "launcher").write_text("#!/bin/sh\n")
    with pytest.raises(measure.Failed, match="without its report"):
        hpcc.run(library, 6, "hpcc")
