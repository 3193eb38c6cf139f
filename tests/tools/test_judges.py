"""The lists of tests in MPICH's suite (tests/judges/mpich/testlists.py), what is known about its tests
beforehand (tests/judges/mpich/facts.py), and files fetched by hash (tools/archive.py)."""
import hashlib
import pathlib
import re
import sys
import tomllib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "judges" / "mpich")]
import archive  # noqa: E402
import facts  # noqa: E402
import testlists  # noqa: E402


def test_line_with_every_field():
    line = "many 4 arg=-n=3 arg=-x env=A=b timeLimit=600 resultTest=TestStatus mem=2.5 # why"
    test = testlists.parse_line("pt2pt", line)
    assert (test.program, test.ranks) == ("many", 4)
    assert (test.arguments, test.environment) == (("-n=3", "-x"), ("A=b",))
    assert (test.seconds, test.result, test.memory_gb, test.extension) == (600, "TestStatus", 2, False)
    assert test.name == "pt2pt/many 4 A=b -n=3 -x"


@pytest.mark.parametrize("line", ["", "   ", "# program 2", "!util:library"])
def test_line_without_a_test(line):
    assert testlists.parse_line("coll", line) is None


def test_ranks_and_time_where_the_line_has_none():
    test = testlists.parse_line("coll", "scan")
    assert (test.ranks, test.seconds, test.result) == (testlists.DEFAULT_RANKS, testlists.DEFAULT_SECONDS, "")


@pytest.mark.parametrize("field", ["strict=false", "strict=FALSE", "mpix=true"])
def test_extension_of_the_standard(field):
    assert testlists.parse_line("comm", f"agree 4 {field}").extension


def judged(status, output, result=""):
    return testlists.complaint(testlists.Test("coll", "scan", result=result), status, output)


def test_success_is_one_line_and_exit_code_0():
    assert judged(0, " No Errors\n") == "" == judged(0, "No errors\n Test Passed\n\n")


@pytest.mark.parametrize("status, output, words", [
    (1, " No Errors\n", "exit code 1"), (0, "", "did not say"),
    (0, "No Errors\nrank 1: got 3\n", "rank 1: got 3"),
    (0, "Found 2 errors\n", "did not say"), (-11, "", "exit code -11")])
def test_failure_is_named(status, output, words):
    assert words in judged(status, output)


@pytest.mark.parametrize("result, right, wrong", [
    ("TestStatus", (1, ""), (0, "No Errors")), ("TestErrFatal", (6, "an error"), (0, "")),
    ("TestStatusNoErrors", (1, "No Errors"), (0, "No Errors"))])
def test_program_that_should_fail(result, right, wrong):
    assert judged(*right, result) == "" and judged(*wrong, result) != ""


def test_unknown_judgement_is_a_failure():
    assert "TestNew" in judged(0, "No Errors", "TestNew")


TABLE = """
[source]
[waiting]
"rma" = "MPI_Win_create"
[adopted]
"coll/p_" = "6.13"
[renamed]
MPI_Old = "MPI_New"
[[run_with]]
options = ["-x", "1"]
tests = ["attr/a", "attr/b"]
[[may_fail]]
why = "2.8: W"
tests = ["coll/c", "coll/d"]
[[may_fail]]
why = "9.3: V"
tests = ["coll/e"]
sometimes = true
"""


def known(*missing):
    return facts.Facts(tomllib.loads(TABLE), missing)


def test_facts_by_test():
    assert known().options == {"attr/a": ("-x", "1"), "attr/b": ("-x", "1")}
    assert known().reasons == {"coll/c": "2.8: W", "coll/d": "2.8: W", "coll/e": "9.3: V"}
    assert known().definitions() == ["-DMPI_Old=MPI_New"]


def test_extension_that_has_become_standard():
    for folder, line, standard in (("coll", "p_scan 4 strict=false", True), ("coll", "scan 4", True),
                                   ("coll", "pscan 4 strict=false", False),
                                   ("comm", "p_scan 4 strict=false", False)):
        assert known().is_standard(testlists.parse_line(folder, line)) == standard


def test_folders_wait_until_their_function_exists():
    waiting = known("MPI_Win_create")
    assert waiting.waits_for("rma") == waiting.waits_for("rma/deep") == "MPI_Win_create"
    assert waiting.waits_for("rmatrix") is None
    assert known("MPI_Win_free").waits_for("rma") is None


@pytest.mark.parametrize("text", [
    "a.c:3:5: warning: implicit declaration of function ‘MPI_Win_free’; did you mean ‘MPI_Win_size’?",
    "/usr/bin/ld: a.o: in function `main':\na.c:7: undefined reference to `PMPI_Win_free'",
    "Lanyard: MPI_Win_free(win=0x1) on rank 0 (vm): MPI_Win_free is not implemented in Lanyard 0.1.0; see"])
def test_missing_function_is_named(text):
    assert known("MPI_Win_free").named_as_missing(text) == "MPI_Win_free"
    assert known("MPI_Win").named_as_missing(text) is None  # then it is a failure


def test_reason_of_a_test_that_passes_is_outdated():
    ran = ["coll/c", "coll/d", "coll/e", "coll/f"]
    assert known().outdated(ran, ["coll/c", "coll/f"]) == ["coll/d"]
    assert known().outdated(["coll/d"], []) == ["coll/d"]
    assert known().outdated([], []) == []


def test_every_reason_cites_a_section():
    path = ROOT / "tests" / "judges" / "mpich" / "facts.toml"
    for test, why in facts.Facts(tomllib.loads(path.read_text())).reasons.items():
        assert re.match(r"\d+(\.\d+)+( and \d+(\.\d+)+)*: ", why), test


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """An archive in a folder, and an empty folder for what is fetched from it."""
    monkeypatch.setattr(archive, "DOWNLOADS", tmp_path / "downloads")
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "a.tar").write_bytes(b"content")
    return f"file://{tmp_path}/"


def test_file_is_fetched_once(shelf, tmp_path):
    digest = hashlib.sha256(b"content").hexdigest()
    assert archive.fetch("pool/a.tar", digest, [shelf]).read_bytes() == b"content"
    (tmp_path / "pool" / "a.tar").unlink()
    assert archive.fetch("pool/a.tar", digest, [shelf]).read_bytes() == b"content"


def test_file_that_changed_is_refused(shelf, tmp_path):
    with pytest.raises(archive.Unavailable, match="not 0000"):
        archive.fetch("pool/a.tar", "0000", [shelf])
    assert not (tmp_path / "downloads").exists()


def test_second_archive_is_tried(shelf):
    digest = hashlib.sha256(b"content").hexdigest()
    assert archive.fetch("pool/a.tar", digest, ["file:///nowhere/", shelf]).read_bytes() == b"content"
    with pytest.raises(archive.Unavailable, match="nowhere"):
        archive.fetch("pool/a.tar", digest[::-1], ["file:///nowhere/"])
