"""Defines the markers of the Python tests, and leaves out `thorough` ones unless all run (tools/test)."""
import os


MARKERS = (
    "alone: no other test may run at the same time, because this one examines the machine",
    "thorough: only with LANYARD_TEST_ALL, because it takes long for what it can find",
)


def pytest_configure(config):
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


def pytest_collection_modifyitems(config, items):
    if "LANYARD_TEST_ALL" in os.environ:
        return
    left_out = [item for item in items if item.get_closest_marker("thorough")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]
