"""Runs MPICH's own tests, from Debian's source package, compiled with this library's mpicc (standard ABI).

facts.toml names the source by version and hash, and the folders that need a chapter which this library lacks.
It also lists the tests that may fail, each with a reason that cites the standard. An entry for a test that
passes is a failure too, so the list only shrinks. A test that needs another missing function is skipped with
the name of the function. The suite is unpacked in build/judges and is no part of the repository. $JOBS is the
number of tests that run at the same time, and of compilations; without it, the number of processors.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import archive  # noqa: E402
import facts  # noqa: E402
import junit  # noqa: E402
import testlists  # noqa: E402

FOLDER = archive.ROOT / "build" / "judges" / "mpich"
LISTS = ("testlist", "testlist.dtp")
JOBS = int(os.environ.get("JOBS") or os.cpu_count() or 1)
TIMED_OUT = 124  # mpirun's exit code
GRACE_S = 20  # how long mpirun may take to end a test whose time is over
KEPT_CHARACTERS = 4000  # of a failed test's output


class Suite:
    def __init__(self, build):
        self.build = build
        self.facts = facts.Facts(tomllib.loads((HERE / "facts.toml").read_text()), self.missing())
        self.root = FOLDER / self.facts.source["folder"]
        self.cases = []

    def missing(self):
        """The names of the functions that this library lacks."""
        words = [self.build / "bin" / "lanyard", "info", "--coverage", "--json"]
        told = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
        return {function["name"] for function in told["functions"] if not function["implemented"]}

    def unpack(self):
        source = self.facts.source
        package = archive.fetch(source["place"], source["sha256"])
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        with tarfile.open(package) as file:
            wanted = [member for member in file.getmembers()
                      if member.name.startswith(source["folder"] + "/")]
            safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            file.extractall(FOLDER, wanted, **safe)

    def log(self, words, name, **keywords):
        with open(FOLDER / name, "w", encoding="utf-8") as stream:
            return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT,
                                  cwd=self.root, check=False, **keywords).returncode

    def environment(self):
        path = f"{self.build / 'bin'}:{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "MPITEST_RETURN_WITH_CODE": "yes"}

    def prepare(self):
        """Unpacks and configures the suite and makes its library of datatypes, unless that has been done for
        this build folder. Returns whether the programs can be compiled."""
        source = self.facts.source
        words = ["./configure", f"MPICC={self.build / 'bin' / 'mpicc'}", "CC=gcc",
                 f"MPIEXEC={self.build / 'bin' / 'mpirun'}", f"CPPFLAGS={' '.join(self.facts.definitions())}",
                 "--enable-strictmpi", *source["configure"]]
        stamp = FOLDER / "prepared"
        meaning = json.dumps([source["sha256"], words])
        if stamp.exists() and stamp.read_text() == meaning:
            return True
        self.unpack()
        make = ["nice", "make", f"-j{JOBS}", "-C", "dtpools"]
        for name, command in (("configure", words), ("dtpools", make)):
            if self.log(command, f"{name}.log", env=self.environment()) != 0:
                self.cases.append(junit.Case("mpich", name, "failed", f"see {FOLDER}/{name}.log", ""))
                return False
        stamp.write_text(meaning)
        return True

    def tests(self):
        """All tests of the lists, including those of nested folders."""
        found = []

        def visit(folder):
            for name in LISTS:
                path = self.root / folder / name
                for line in path.read_text().splitlines() if path.exists() else []:
                    test = testlists.parse_line(folder.as_posix(), line)
                    if test and (self.root / folder / test.program).is_dir():
                        if name == LISTS[0]:
                            visit(folder / test.program)
                    elif test:
                        found.append(test)
        visit(pathlib.PurePath("."))
        return found

    def make(self, tests):
        """Compiles the tests' programs, folder by folder. Returns what the compiler said about each program
        that could not be compiled, by folder/program."""
        folders, said = {}, {}
        for test in tests:
            folders.setdefault(test.folder, set()).add(test.program)
        for folder, programs in sorted(folders.items()):
            name = folder.replace("/", "-")
            make = ["nice", "make", "-k", f"-j{JOBS}", "-C", folder]
            self.log([*make, *sorted(programs)], f"make-{name}.log", env=self.environment())
            for program in sorted(programs):
                if os.access(self.root / folder / program, os.X_OK):
                    continue
                log = f"make-{name}-{program}.log"  # once more, so that its errors stand alone
                if self.log([*make, program], log, env=self.environment()) != 0:
                    said[f"{folder}/{program}"] = (FOLDER / log).read_text(errors="replace")
        return said

    def run(self, test):
        """(why the test failed or '', output)."""
        environment = {**self.environment(), "MPIEXEC_TIMEOUT": str(test.seconds),
                       **dict(pair.partition("=")[::2] for pair in test.environment)}
        options = self.facts.options.get(test.path, ())
        words = [self.build / "bin" / "mpirun", "-n", test.ranks, *options, *test.mpiexec,
                 f"./{test.program}", *test.arguments]
        process = subprocess.Popen([str(word) for word in words], cwd=self.root / test.folder,
                                   env=environment, text=True, errors="replace", stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:  # after its own limit, mpirun reports what each rank waits for
            output, _ = process.communicate(timeout=test.seconds + GRACE_S)
        except subprocess.TimeoutExpired:
            process.terminate()
            output, _ = process.communicate()
            return f"mpirun did not end it after {test.seconds} s", output
        if process.returncode == TIMED_OUT and not test.result:
            return f"it did not end within {test.seconds} s", output
        return testlists.complaint(test, process.returncode, output), output

    def judge(self, test, problem, output):
        """The case of a test that ran, or could not be compiled."""
        if not problem:
            return junit.Case("mpich", test.name, "passed")
        if reason := self.facts.reasons.get(test.path):
            return junit.Case("mpich", test.name, "skipped", f"may fail: {reason}", output)
        if function := self.facts.named_as_missing(output):
            return junit.Case("mpich", test.name, "skipped", f"{function} is missing", output)
        return junit.Case("mpich", test.name, "failed", problem, output[-KEPT_CHARACTERS:])


def run(build, only=""):
    """The cases of the whole suite, or of the tests whose name contains `only`."""
    suite = Suite(build)
    if not suite.prepare():
        return suite.cases
    chosen = []
    for test in suite.tests():
        if only not in test.name or not suite.facts.is_standard(test):
            continue
        if function := suite.facts.waits_for(test.folder):
            suite.cases.append(junit.Case("mpich", test.name, "skipped", f"{function} is missing", ""))
        else:
            chosen.append(test)
    said = suite.make(chosen)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        results = pool.map(lambda test: ("it could not be compiled", said[test.path]) if test.path in said
                           else suite.run(test), chosen)
        results = list(zip(chosen, results))
    suite.cases += [suite.judge(test, *result) for test, result in results]
    failed = [test.path for test, (problem, _) in results if problem]
    for name in suite.facts.outdated([test.path for test in chosen], failed):
        message = "it passes: take its entry out of facts.toml"
        suite.cases.append(junit.Case("mpich", name, "failed", message, ""))
    return suite.cases
