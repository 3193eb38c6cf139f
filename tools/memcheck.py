"""Runs the GoogleTest programs and the mpi tests of a build under valgrind's memcheck, for 'make test-all'.
As many run at a time as there are processors, because valgrind runs one thread of a program at a time.

A program fails if memcheck reports an error in it, or if it fails under memcheck. Tests about time or load
have the ctest label "timing". They are left out, because they are meaningless if the program runs ten times
slower. Tests with the label "all" are left out too. A program of tests/mpi runs with one number of ranks
(label "once"), because all numbers together take an hour, and the address sanitizer has them all. Tests with
other settings and paths (label "mpi-way") all run.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess

import junit

LIMIT_S = 1200  # for one program; the slowest takes 440 s on two processors
FOUND = 99  # exit code of a program in which memcheck found an error
VALGRIND = ["valgrind", "--quiet", f"--error-exitcode={FOUND}", "--leak-check=full",
            "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite", "--fair-sched=yes",
            f"--suppressions={pathlib.Path(__file__).with_suffix('.supp')}", "--trace-children=no",
            "--child-silent-after-fork=yes"]


def commands(build):
    """Yields (name, command, environment, pattern) of each ctest test that can run under valgrind. A test
    that is meant to fail has a pattern. Its output must match the pattern."""
    for name, command, properties in junit.ctest_tests(build):
        labels = properties.get("LABELS", ())
        several = {"mpi", "mpich"} & set(labels) and "once" not in labels
        if (not command or several or "timing" in labels or "all" in labels or
                not is_program(command[-1]) and not is_program(command[0])):
            continue
        environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", ()))
        yield name, under_valgrind(command), environment, "|".join(
            properties.get("PASS_REGULAR_EXPRESSION", ()))


def is_program(path):
    try:
        with open(path, "rb") as stream:
            return stream.read(4) == b"\x7fELF"
    except OSError:
        return False


def under_valgrind(command):
    """Changes 'mpirun -n 3 PROGRAM ...' to 'mpirun -n 3 valgrind PROGRAM ...'. Lets valgrind start any other
    command."""
    if os.path.basename(command[0]) in ("mpirun", "mpiexec"):
        for position, word in enumerate(command[1:], 1):
            if is_program(word):
                return [*command[:position], *VALGRIND, *command[position:]]
    return [*VALGRIND, *command]


def run(build, environment, results, only=None):
    """Runs the programs, or those that `only` names, and returns one case for each."""
    chosen = [entry for entry in commands(build) if only is None or entry[0] in only]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        return list(workers.map(lambda entry: run_one(build, environment, results, *entry), chosen))


def run_one(build, environment, results, name, command, extra, pattern):
    values = {**environment, **extra, "LANYARD_TEST_SECONDS": "5", "LANYARD_TEST_FEW": "1"}
    values.pop("GTEST_OUTPUT", None)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=values, cwd=build, timeout=LIMIT_S, check=False)
        text, status = done.stdout.decode(errors="replace"), done.returncode
    except subprocess.TimeoutExpired as late:
        text, status = (late.stdout or b"").decode(errors="replace"), f"none after {LIMIT_S} s"
    (results / f"memcheck-{name.replace('/', '-')}.log").write_text(text)
    found_by = ("memcheck", "release", name)
    said = pattern and status != FOUND and re.search(pattern, text)
    if status in (0, 77) or said:
        return junit.Case("memcheck", name, "passed", found_by=found_by)
    message = f"exit code {status} under valgrind"
    return junit.Case("memcheck", name, "failed", message, text, found_by=found_by)
