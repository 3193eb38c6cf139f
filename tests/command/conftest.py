"""Provides fixtures of tests/launch: mpirun of the build that LANYARD_BUILD names, with the check that
nothing is left behind, and programs that are compiled once."""
import importlib.util
import pathlib

_spec = importlib.util.spec_from_file_location(
    "launch_conftest", pathlib.Path(__file__).resolve().parent.parent / "launch" / "conftest.py")
_launch = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_launch)

across = _launch.across
mpirun = _launch.mpirun
built = _launch.built
pytest_configure = _launch.pytest_configure
pytest_runtest_setup = _launch.pytest_runtest_setup
