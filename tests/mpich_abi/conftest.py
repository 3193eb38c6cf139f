"""Fixtures for the tests of libmpi.so.12: the build, environments with packages from PyPI, and a job runner.

The environments are created once, below build/.
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", ROOT / "build" / "release")).absolute()
MPICH = "mpich==5.0.2"
INTEL_VERSION = re.search(r"impi-rt==(\S+)", (ROOT / "bench" / "peers.txt").read_text())[1]


def clean_environment(**more):
    """Returns the environment without the variables that an outer launcher or the test driver has set."""
    dropped = ("PMI_", "LANYARD_JOB", "LD_LIBRARY_PATH", "MPI_LOCAL")
    return {**{name: value for name, value in os.environ.items() if not name.startswith(dropped)}, **more}


@pytest.fixture(scope="session")
def library():
    return BUILD / "lib" / "libmpi.so.12"


@pytest.fixture(scope="session")
def job():
    """Returns a function that runs a program with mpirun.

    This function returns the exit code, standard output and standard error.
    """
    def run(ranks, *command, **variables):
        done = subprocess.run([BUILD / "bin" / "mpirun", "-n", str(ranks), *command], capture_output=True,
                              text=True, timeout=180, check=False, env=clean_environment(**variables),
                              stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr
    return run


def environment(*packages):
    """Returns the Python interpreter of an environment with mpi4py's wheel, numpy and `packages`."""
    path = ROOT / "tests" / "mpi4py" / "build"
    loader = importlib.machinery.SourceFileLoader("mpi4py_build", str(path))
    build = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.dont_write_bytecode = True
    loader.exec_module(build)
    return build.provide_wheel(ROOT / ".venv", *packages)[0]


@pytest.fixture(scope="session")
def unsanitized(library):
    """Skips builds with sanitizers, because programs of others are not linked with a sanitizer's runtime."""
    if re.search("__[at]san_init",
                 subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout):
        pytest.skip("a library built with sanitizers needs their runtime")


@pytest.fixture(scope="session")
def wheel(unsanitized):
    return environment()


@pytest.fixture(scope="session")
def wheel_and_mpich(unsanitized):
    return environment(MPICH)


@pytest.fixture(scope="session")
def intel(unsanitized):
    """Returns the folder with Intel MPI: runtime and benchmarks (impi-rt), mpicc and headers (impi-devel).

    The packages are installed without their dependencies, because impi-rt depends on a package "libfabric"
    that PyPI does not have.
    """
    folder = ROOT / "build" / "mpich_abi" / "intel"
    packages = [f"{name}=={INTEL_VERSION}" for name in ("impi-rt", "impi-devel")]
    stamp = folder / "installed.txt"
    if not stamp.exists() or stamp.read_text() != "\n".join(packages):
        shutil.rmtree(folder, ignore_errors=True)
        command = [ROOT / ".venv" / "bin" / "python", "-m", "pip", "install", "--quiet",
                   "--disable-pip-version-check", "--only-binary", ":all:", "--no-deps", "--ignore-installed",
                   "--prefix", folder, *packages]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"installing {' and '.join(packages)} from PyPI: {done.stderr}"
        stamp.write_text("\n".join(packages))
    return folder
