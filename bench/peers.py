"""Finds the MPI libraries to compare: their folders, how each starts a program, and their benchmark programs.

Used by bench/compare and bench/run. Lanyard, MPICH and Intel MPI run the same executables through
libmpi_abi.so.1. Open MPI has another ABI, so the same sources are compiled for it. Each library runs with its
defaults, except for settings without which it does not run at all: permission to run as root, and to start
more ranks than processors. The other libraries are installed once, into virtual environments in a cache
folder. A stamp file in each environment states the installed version.
"""
import contextlib
import fcntl
import os
import subprocess
import sys
import venv
from pathlib import Path

BENCH = Path(__file__).resolve().parent
SOURCE = BENCH / "programs"
CACHE = BENCH.parent / "build" / "peers"  # where the other libraries are installed
ALL = ("lanyard", "mpich", "impi", "openmpi")

# Variables of an outer job or of the user that would make a comparison unfair or impossible.
FOREIGN = ("PMI_", "PMIX_", "OMPI_", "PRTE_", "MPIR_", "I_MPI_", "HYDRA_", "LANYARD_", "LD_LIBRARY_PATH",
           "MPI_")


class Unavailable(Exception):
    """A library that is not available or cannot be built here. The text states the reason."""


class Library:
    """One MPI library, ready to start programs."""

    def __init__(self, key, title, home, programs, launcher, environment):
        self.key = key
        self.title = title
        self.home = home
        self.programs = programs
        self.launcher = launcher
        self.environment = environment
        # Set on a route (routes.py). These functions return the bytes that the route's interface has counted,
        # prepare a run, and set the loss of the route's link in per cent.
        self.counted = None
        self.prepare = None
        self.lose = None

    def command(self, ranks, program, arguments=()):
        return [*self.launcher(ranks), str(self.programs / f"bench-{program}"), *arguments]

    def environ(self):
        return {**clean_environment(), **self.environment}


def clean_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}


def processors():
    return len(os.sched_getaffinity(0))


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def run_quietly(command, what, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        lines = "\n  ".join(done.stdout.strip().splitlines()[-5:])
        raise Unavailable(f"{what} failed (exit {done.returncode}):\n  {lines}")


def pinned_packages():
    lines = (line.split("#")[0].split() for line in (BENCH / "peers.txt").read_text().splitlines())
    return {words[0]: words[1] for words in lines if words}


@contextlib.contextmanager
def only_process(lock):
    """Runs the block alone: other processes that enter with the same lock file wait.

    Such processes are, for instance, tests that run at the same time.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    with open(lock, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def install_peer(key, cache):
    """Returns the virtual environment of a library. It is created if it is missing or has another version."""
    package = pinned_packages()[key]
    home = cache / key
    stamp = home / "installed"
    with only_process(cache / f"{key}.lock"):
        if stamp.exists() and stamp.read_text() == package:
            return home
        say(f"installing {package} from PyPI into {home}")
        venv.create(home, with_pip=True, clear=True)
        run_quietly([home / "bin" / "pip", "install", "--quiet", "--no-deps", package],
                    f"pip install {package}")
        stamp.write_text(package)
    return home


def build_programs(home, cache):
    """Returns the benchmark programs, compiled with the library's own mpicc. CMake rebuilds what has
    changed."""
    folder = cache / f"{home.name}-programs"
    log = "building the benchmark programs for " + home.name
    with only_process(cache / f"{home.name}-programs.lock"):
        if not (folder / "CMakeCache.txt").exists():
            say(log)
            run_quietly(["cmake", "-S", SOURCE, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                         f"-DMPI_C_COMPILER={home / 'bin' / 'mpicc'}"], log)
        run_quietly(["cmake", "--build", folder, "--parallel", str(processors())], log)
    return folder


def lanyard(prefix):
    prefix = Path(prefix).resolve()
    for needed in ("bin/mpirun", "libexec/lanyard/bench-latency", "lib/libmpi_abi.so.1"):
        if not (prefix / needed).exists():
            raise Unavailable(f"there is no {needed} under {prefix}: "
                              "build Lanyard first, or say --prefix DIR")
    return Library("lanyard", "Lanyard", prefix, prefix / "libexec" / "lanyard",
                   lambda ranks: [str(prefix / "bin" / "mpirun"), "-n", str(ranks)], {})


def mpich(home, abi_programs):
    return Library("mpich", "MPICH", home, abi_programs,
                   lambda ranks: [str(home / "bin" / "mpiexec"), "-n", str(ranks)],
                   {"LD_LIBRARY_PATH": str(home / "lib")})


def impi(home, abi_programs):
    # Intel MPI's default is shm:ofi. Without libfabric it falls back to shm. With this setting, it does not
    # search for libfabric first.
    return Library("impi", "Intel MPI", home, abi_programs,
                   lambda ranks: [str(home / "bin" / "mpiexec.hydra"), "-n", str(ranks)],
                   {"LD_LIBRARY_PATH": str(home / "lib"), "I_MPI_ROOT": str(home), "I_MPI_FABRICS": "shm"})


def openmpi(home, own_programs):
    def launcher(ranks):
        oversubscribed = ["--map-by", ":OVERSUBSCRIBE"] if ranks > processors() else []
        return [str(home / "bin" / "mpirun"), *oversubscribed, "-n", str(ranks)]
    return Library("openmpi", "Open MPI", home, own_programs, launcher,
                   {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                    "LD_LIBRARY_PATH": str(home / "lib")})


def find(keys, prefix, cache):
    """Returns the libraries named by `keys`.

    Libraries that are not available are reported on stderr and left out.

    If Lanyard is not among them, the ABI programs are built with MPICH's mpicc_abi.
    """
    cache.mkdir(parents=True, exist_ok=True)
    found = {}
    for key in keys:
        try:
            if key == "lanyard":
                found[key] = lanyard(prefix)
            elif key == "openmpi":
                home = install_peer(key, cache)
                found[key] = openmpi(home, build_programs(home, cache))
            else:
                home = install_peer(key, cache)
                programs = found["lanyard"].programs if "lanyard" in found else abi_programs(cache)
                found[key] = (mpich if key == "mpich" else impi)(home, programs)
        except Unavailable as problem:
            say(f"{key} is left out: {problem}")
    return found


def with_oversubscribed_settings(libraries):
    """Returns the libraries, and a copy of each library that has a setting for more ranks than processors."""
    more = {}
    for key, library in libraries.items():
        more[key] = library
        if key == "impi":
            more["impi-wait"] = Library("impi-wait", "Intel MPI, I_MPI_WAIT_MODE=1", library.home,
                                        library.programs, library.launcher,
                                        {**library.environment, "I_MPI_WAIT_MODE": "1"})
    return more


def abi_programs(cache):
    """Returns the ABI programs for comparisons without Lanyard."""
    home = install_peer("mpich", cache)
    folder = cache / "abi-programs"
    if not (folder / "CMakeCache.txt").exists():
        run_quietly(["cmake", "-S", SOURCE, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                     f"-DMPI_C_COMPILER={home / 'bin' / 'mpicc_abi'}"], "configuring the ABI programs")
    run_quietly(["cmake", "--build", folder, "--parallel", str(processors())], "building the ABI programs")
    return folder
