"""Provides the fixtures that the launcher's tests share. `mpirun` belongs to the build that LANYARD_BUILD
names. After every test it checks that no process of the test's jobs and no file in /dev/shm is left.

With LANYARD_TEST_ACROSS, the ranks of every job that a test starts by mpirun alternate between two hosts of a
lab (tests/failures and test_mpi.py, in 'make test-all'). A test whose result would mean something else on two
hosts, or nothing, is marked with one_host(reason).

With LANYARD_TEST_HARMED, ranks reach each other by datagrams only, unless the test itself chooses a path.
Some of the datagrams are lost, duplicated, reordered and damaged (the same tests, also in 'make test-all'). A
test that has no meaning over such paths is marked with own_paths(reason)."""
import os
import pathlib
import select
import signal
import subprocess
import sys
import time
import uuid

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import harmed  # noqa: E402
from lab import Lab, missing  # noqa: E402
from lab.system import processes_in  # noqa: E402

BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", ROOT / "build" / "release")).absolute()
DEADLINE_S = 120  # limit for anything that hangs
# A time limit for events that should happen at once, on a machine that has other work. The limit is less than
# LANYARD_PEER_TIMEOUT, because after that time the events would happen anyway. bench/endings.py measures how
# long they really take.
SOON_S = 30
ACROSS = "LANYARD_TEST_ACROSS" in os.environ
HARMED = harmed.SETTINGS if "LANYARD_TEST_HARMED" in os.environ else {}
LAB_SSH = ROOT / "tests" / "lab" / "ssh"
# Prefixes of variables that an outer launcher or the test driver may have set.
DROPPED = ("PMI_", "PMIX_", "OMPI_", "SLURM_", "MPI_LOCAL", "LANYARD_", "LD_LIBRARY_PATH", "MPIEXEC_")

# A rank that sends its PMI-1 requests itself, without an MPI library. The test appends the requests.
PMI_CLIENT = '''
import os, socket, sys, time
rank, size = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
connection = socket.socket(fileno=int(os.environ["PMI_FD"]))
lines = connection.makefile("r", newline=chr(10))
def say(text): connection.sendall((text + chr(10)).encode())
def ask(text):
    say(text)
    return lines.readline().rstrip()
def fields(line): return dict(word.split("=", 1) for word in line.split())
def init():
    answer = ask("cmd=init pmi_version=1 pmi_subversion=1")
    assert answer == "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
    return fields(ask("cmd=get_my_kvsname"))["kvsname"]
'''


def processes_with(mark):
    """Maps the process ids of the live processes whose environment has the mark to their command lines.
    Zombies have no environment."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(
                    errors="replace")
        except OSError:
            continue
    return found


def shared_files():
    """The names of this library's files in /dev/shm."""
    return {name for name in os.listdir("/dev/shm") if "lanyard" in name}


class Launcher:
    """Starts mpirun with a mark in the environment. All processes of the job inherit the mark."""

    def __init__(self, folder, lab=None):
        self.lab = lab
        self.mark = f"LAUNCH_TEST_MARK={uuid.uuid4()}"
        self.build = BUILD
        self.path = BUILD / "bin" / "mpirun"
        self.remote_shell = pathlib.Path(__file__).with_name("remote_shell")
        self.folder = folder
        self.soon_s = SOON_S
        self.started = []

    def environment(self, extra):
        name, value = self.mark.split("=")
        values = {key: text for key, text in os.environ.items() if not key.startswith(DROPPED)}
        return {**values, name: value, **HARMED, **{key: str(text) for key, text in extra.items()}}

    def start(self, *arguments, env=None, launcher=None, **keywords):
        """Popen of mpirun (or `launcher`) in a folder of the test. Standard streams are pipes unless
        `keywords` names others."""
        for stream in ("stdout", "stderr"):
            keywords.setdefault(stream, subprocess.PIPE)
        keywords.setdefault("stdin", subprocess.DEVNULL)
        prepare = keywords.pop("preexec_fn", None)

        def with_signals():
            """Restores signals that tests inherit as ignored when they run in the background or under
            nohup."""
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            if prepare:
                prepare()

        words = [str(launcher or self.path), *map(str, arguments)]
        if self.lab and not launcher:
            words = self.lab.command("h1", [words[0], "--ssh", str(LAB_SSH), "--host", "h1,h2", "--map-by",
                                            "node", *words[1:]])
        process = subprocess.Popen(words, env=self.environment(env or {}),
                                   cwd=keywords.pop("cwd", self.folder), preexec_fn=with_signals, **keywords)
        self.started.append(process)
        return process

    def run(self, *arguments, input=None, timeout=DEADLINE_S, text=True, **keywords):
        """(exit code, standard output, standard error) of mpirun."""
        if input is not None:
            keywords["stdin"] = subprocess.PIPE
        process = self.start(*arguments, text=text, **keywords)
        out, err = process.communicate(input, timeout=timeout)
        return process.returncode, out, err

    def run_out(self, seconds, right, *arguments, **keywords):
        """Does the same for a job that hangs, and that --timeout ends after `seconds`. On a busy machine the
        complete report may need more time, so the job is repeated with longer time limits until
        right(standard error) holds."""
        for patience in (seconds, 10, 60):
            code, out, err = self.run("--timeout", patience, *arguments, timeout=DEADLINE_S, **keywords)
            if right(err):
                break
        return code, out, err

    def quit_until(self, process, lines, right):
        """Returns the report that a job prints on SIGQUIT, which has `lines` lines. The signal is repeated
        until right(text) holds, because at first some ranks may not have reached the call in which they
        wait."""
        for pause_s in (0.5, 0.5, 2, 5, 10, 20):
            time.sleep(pause_s)
            process.send_signal(signal.SIGQUIT)
            text = self.read_until(process.stderr, lambda text: text.count(b"\n") >= lines).decode()
            if right(text):
                break
        return text

    def python(self, text):
        """The words of a command that runs these lines of Python."""
        return [sys.executable, "-S", "-c", text]

    def pmi_client(self, text):
        """The words of a command that runs these lines of Python as a rank that sends its PMI-1 requests
        itself. The lines can use init(), ask(line), fields(line), rank and size."""
        return self.python(PMI_CLIENT + text)

    def alive(self):
        # The processes in h2 do not have the mark.
        there = processes_in(self.lab.namespace("h2")) if self.lab else ()
        return {**processes_with(self.mark), **{pid: "in h2" for pid in there}}

    def agents(self):
        """Process ids of the agents of jobs on several hosts."""
        return [pid for pid, words in self.alive().items()
                if words.strip().endswith("mpirun --agent") and "setsid" not in words]

    def agent_of(self, host):
        """The agent that remote_shell started as this host."""
        return next(pid for pid in self.agents()
                    if f"ONLY_THERE={host}\0".encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes())

    def wait_until(self, condition, what, timeout=DEADLINE_S):
        """Waits for a condition to hold and returns its value."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            time.sleep(0.01)
        raise AssertionError(f"this did not happen within {timeout} s: {what}; alive: {self.alive()}")

    def read_until(self, stream, enough, timeout=DEADLINE_S):
        """Reads from a pipe until enough(bytes so far) holds, and returns these bytes."""
        text = b""
        end = time.monotonic() + timeout
        while not enough(text):
            assert select.select([stream], [], [], max(0, end - time.monotonic()))[0], (
                f"nothing more arrived than {text}")
            chunk = os.read(stream.fileno(), 4096)
            assert chunk, f"the stream ended after {text}"
            text += chunk
        return text

    def expect_nothing_left(self, timeout=SOON_S):
        self.wait_until(lambda: not self.alive(), "all processes of the job ended", timeout)

    def clean(self):
        for pid in self.alive():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for process in self.started:
            process.wait(timeout=DEADLINE_S)


def pytest_configure(config):
    config.addinivalue_line("markers",
                            "one_host(reason): not with the ranks on two hosts (LANYARD_TEST_ACROSS)")
    config.addinivalue_line("markers",
                            "own_paths(reason): not with datagrams as the only path (LANYARD_TEST_HARMED)")


def pytest_runtest_setup(item):
    mark = item.get_closest_marker("one_host")
    if mark and ACROSS:
        pytest.skip(f"one host only: {mark.args[0]}")
    mark = item.get_closest_marker("own_paths")
    if mark and HARMED:
        pytest.skip(f"not over datagrams: {mark.args[0]}")


@pytest.fixture(scope="session")
def across():
    """Two hosts for the jobs of all tests, if LANYARD_TEST_ACROSS is set."""
    if not ACROSS:
        yield None
        return
    if reason := missing():
        pytest.skip(reason)
    with Lab(hosts=2) as lab:
        yield lab


@pytest.fixture
def mpirun(tmp_path, across):
    launcher = Launcher(tmp_path, across)
    files_before = shared_files()
    yield launcher
    try:
        launcher.expect_nothing_left()
        # Other tests run at the same time. Their files are also removed in time.
        made = shared_files() - files_before
        launcher.wait_until(lambda: not made & shared_files(),
                            f"no file is left in /dev/shm of {made}", SOON_S)
    finally:
        launcher.clean()


@pytest.fixture
def hosts(mpirun):
    """hosts(names, words...) runs mpirun on these hosts through a replacement for ssh (remote_shell);
    hosts.start(...) does the same with mpirun.start."""
    def words(names, arguments):
        return ("--ssh", mpirun.remote_shell, "--host", names, *arguments)

    def run(names, *arguments, **keywords):
        return mpirun.run(*words(names, arguments), **keywords)
    run.start = lambda names, *arguments, **keywords: mpirun.start(*words(names, arguments), **keywords)
    return run


@pytest.fixture(scope="session")
def mpich():
    """The virtual environment of MPICH's PyPI package, the same one that bench/compare makes."""
    sys.path.insert(0, str(ROOT / "bench"))
    import peers
    sys.path.remove(str(ROOT / "bench"))
    cache = ROOT / "build" / "peers"
    cache.mkdir(parents=True, exist_ok=True)
    return peers.install_peer("mpich", cache)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Compiles a program once: built(name, source text, compiler words) -> path."""
    folder = tmp_path_factory.mktemp("programs")

    def build(name, source, *compiler, suffix=".c"):
        program, text = folder / name, folder / (name + suffix)
        assert not text.exists() or text.read_text() == source, f"two programs have the name {name}"
        if not program.exists():
            text.write_text(source)
            subprocess.run([*map(str, compiler), text, "-o", program], check=True, timeout=300)
        return program
    return build


@pytest.fixture
def mpich_files():
    """Removes the files that this test's aborted MPICH jobs have left in /dev/shm, unless a process has
    mapped them."""
    folder = pathlib.Path("/dev/shm")
    before = set(folder.glob("mpich_shm_*"))
    yield
    for path in set(folder.glob("mpich_shm_*")) - before:
        mapped = any(str(path) in text for text in map(maps_of, pathlib.Path("/proc").glob("[0-9]*/maps")))
        if not mapped:
            path.unlink(missing_ok=True)


def maps_of(path):
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
