"""Provides the fixtures of the tests of failures.

`mpirun` and `built` are the fixtures of tests/launch. `mpirun` belongs to the build that LANYARD_BUILD names,
and checks that a job leaves nothing behind. `program` compiles the programs of tests/failures/programs.
"""
import importlib.util
import pathlib

import pytest

HERE = pathlib.Path(__file__).resolve().parent
_spec = importlib.util.spec_from_file_location("launch_conftest", HERE.parent / "launch" / "conftest.py")
_launch = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_launch)

across = _launch.across
mpirun = _launch.mpirun
pytest_configure = _launch.pytest_configure
pytest_runtest_setup = _launch.pytest_runtest_setup
built = _launch.built


@pytest.fixture
def program(mpirun, built):
    """program(name): the compiled tests/failures/programs/NAME.c."""
    def compiled(name):
        return built(name, (HERE / "programs" / f"{name}.c").read_text(), mpirun.build / "bin" / "mpicc",
                     "-pthread", "-rdynamic", "-I", HERE / "programs")
    return compiled
