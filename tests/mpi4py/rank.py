"""Runs mpi4py's own tests on one rank and writes the outcome of each test into a JSON file.

tests/mpi4py/run starts it as: mpirun -n N python rank.py TESTS REPORTS [arguments of mpi4py's test/main.py].
Every rank runs the same tests in the same order and writes REPORTS/rank-R.json. While a test runs, its name
is in REPORTS/rank-R.now, which shows where a run hangs.
"""
import json
import os
import pathlib
import sys
import time
import unittest

sys.dont_write_bytecode = True


class Recorder(unittest.TextTestResult):
    """Records the outcome of each test under its full name, and the running test's name in rank-R.now."""

    reports = pathlib.Path()
    rank = 0
    outcomes = {}

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()
        (self.reports / f"rank-{self.rank}.now").write_text(test.id())

    def note(self, test, outcome, text=""):
        known = self.outcomes.get(test.id())
        # if several subtests fail, the first failure counts
        if known is None or known["outcome"] == "passed":
            seconds = time.monotonic() - getattr(self, "started", time.monotonic())
            self.outcomes[test.id()] = {"outcome": outcome, "text": text, "seconds": seconds}

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, "passed")

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "failed", self._exc_info_to_string(err, test))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "failed", self._exc_info_to_string(err, test))

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, "failed", f"{subtest}\n{self._exc_info_to_string(err, test)}")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped", reason)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.note(test, "passed")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.note(test, "failed", "passed, though it is expected to fail")


def main():
    tests, reports = sys.argv[1], pathlib.Path(sys.argv[2])
    del sys.argv[1:3]
    sys.path.insert(0, tests)
    import main as mpi4py_tests  # the test program of mpi4py

    Recorder.reports = reports
    Recorder.rank = int(os.environ.get("PMI_RANK") or os.environ.get("OMPI_COMM_WORLD_RANK") or 0)
    left_out = []
    original = mpi4py_tests.TestLoader.getTestCaseNames

    def names_and_left_out(loader, case):
        patterns, loader.excludePatterns = loader.excludePatterns, []
        everything = original(loader, case)
        loader.excludePatterns = patterns
        chosen = original(loader, case)
        left_out.extend(f"{case.__module__}.{case.__qualname__}.{name}" for name in everything
                        if name not in chosen)
        return chosen

    mpi4py_tests.TestLoader.getTestCaseNames = names_and_left_out
    runner = unittest.TextTestRunner(stream=open(os.devnull, "w"), resultclass=Recorder, verbosity=0)
    try:
        mpi4py_tests.TestProgram(module=None, testRunner=runner)
    except SystemExit:
        pass
    report = {"outcomes": Recorder.outcomes, "left_out": left_out}
    (reports / f"rank-{Recorder.rank}.json").write_text(json.dumps(report))
    (reports / f"rank-{Recorder.rank}.now").write_text("the end of the run (MPI_Finalize)")


if __name__ == "__main__":
    main()
