"""Tests the two names of each function. PMPI_x belongs to the library, and a tool or a program may define
MPI_x itself. Here a tool (pmpi_tool.py) defines all MPI_ names, and the programs of tests/mpi run under the
tool. The programs must work as without it. Every function that the library implements must be called through
the tool. The library itself must call no MPI_ name."""
import json
import os
import pathlib
import re
import subprocess

import pmpi_tool
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SANITIZED = "-fsanitize" in os.environ.get("LANYARD_CC", "")

# Programs of tests/mpi that do not run under the tool, and functions whose calls the tool cannot see in the
# other programs.
LEFT_OUT = {
    "third-abi": "has functions and handles of its own",
    "mpi-comm-interpose": "is a tool itself",
    "mpi-comm-interpose-library": "is a tool itself",
    "mpi-pt2pt-large": "is about gigabytes, and its functions are called by others",
}
CALLED_ELSEWHERE = {
    "MPI_Abort": "tests/launch",
    "MPI_Initialized": "tests/failures",
}
# Classes that any function may return, as the index of the reference says, and MPI_ERR_UNKNOWN, the class of
# a code that only the program's functions know.
ERRORS_OF_ALL = {"MPI_ERR_UNKNOWN", "MPI_ERR_OTHER", "MPI_ERR_INTERN", "MPI_ERR_NO_MEM",
                 "MPI_ERR_UNSUPPORTED_OPERATION"}
KNOWN = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, size, got = -1, sum;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int turn = 0; turn < 7; ++turn) {
        MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, turn, MPI_COMM_WORLD, &request);
        MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, turn, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        PMPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Pcontrol(2, "a text", 3.0);
    MPI_Pcontrol(0);
    MPI_Allreduce_c(&got, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d\\n", sum);
    MPI_Finalize();
    return 0;
}
"""
KNOWN_CALLS = {"MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Comm_size": 1, "MPI_Irecv": 7, "MPI_Send": 7,
               "MPI_Wait": 7, "MPI_Pcontrol": 2, "MPI_Allreduce_c": 1, "MPI_Finalize": 1}


def test_both_names_are_one_function(description, library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        address, kind, name = line.split()
        found[name] = (address, kind)
    names = [name for function in description.functions for name, _large in function.forms()]
    assert len(names) > 500
    weak = [name for name in names if found[name][1] != "W"]
    strong = [name for name in names if found["P" + name][1] != "T"]
    assert not weak, f"a program cannot define these itself, as they are not weak: {weak}"
    assert not strong, f"these names of the library are not strong: {strong}"
    assert not [name for name in names if found[name][0] != found["P" + name][0]]


def test_the_tool_defines_what_the_header_declares(description):
    functions = re.compile(r"^(?!typedef)\w+ \*?(P?MPI_\w+)\(", re.MULTILINE)
    declared = functions.findall((ROOT / "include" / "mpi.h").read_text())
    defined = functions.findall(pmpi_tool.tool(description))
    assert len(defined) > 600
    assert sorted(declared) == sorted(defined + ["P" + name for name in defined])


class Workshop:
    """Compiles programs with mpicc, runs them, and returns what the tool has counted meanwhile."""

    def __init__(self, folder, build, counts):
        self.folder, self.build, self.counts = folder, build, counts

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def mpicc(self, *words):
        done = subprocess.run([self.build / "bin" / "mpicc", *words], cwd=self.folder, capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0 and not done.stderr, done.stderr

    def run(self, *command, **settings):
        """Runs a job. PRELOAD applies only to its processes, not to mpirun."""
        self.counts.clear()
        preload = settings.pop("PRELOAD", None)
        if preload:
            command = [*command[:-1], "env", f"LD_PRELOAD={self.folder / preload}", command[-1]]
        environment = {**os.environ, "PMPI_TOOL_COUNTS": str(self.counts.path), "LANYARD_TEST_SECONDS": "1",
                       **settings}
        done = subprocess.run(command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              timeout=300)
        return done, self.counts.read()

    def known(self, program, ranks=3, **settings):
        """Runs the program with known calls and returns how often each rank called the tool for each
        function."""
        done, counts = self.run(self.build / "bin" / "mpirun", "-n", str(ranks), f"./{program}", **settings)
        assert done.returncode == 0, done.stdout
        assert done.stdout == "3\n" * 3
        assert not [name for name, (_calls, inside) in counts.items() if inside]
        return {name: calls / ranks for name, (calls, _inside) in counts.items()}


@pytest.fixture(scope="module", name="workshop")
def make_workshop(tmp_path_factory, description, library):
    folder = tmp_path_factory.mktemp("pmpi")
    shop = Workshop(folder, library.parents[1], pmpi_tool.Counts(description, folder / "counts"))
    shop.write("tool.c", pmpi_tool.tool(description))
    shop.mpicc("-O1", "-fPIC", "-c", "tool.c")
    shop.mpicc("-shared", "-o", "libtool.so", "tool.o")
    subprocess.run(["ar", "rc", folder / "libtool.a", folder / "tool.o"], check=True)
    shop.write("known.c", KNOWN)
    shop.mpicc("-o", "known", "known.c")
    return shop


def preloads():
    if SANITIZED:
        pytest.skip("a library cannot be loaded before the sanitizer's")


def test_every_function_reaches_a_preloaded_tool_once(workshop, description):
    preloads()
    workshop.write("caller.c", pmpi_tool.caller(description))
    workshop.mpicc("-o", "caller", "caller.c")
    done, counts = workshop.run("./caller", PRELOAD="libtool.so", PMPI_TOOL_PASSES="0")
    assert done.returncode == 0, done.stdout
    assert counts == {name: (1, 0) for name in workshop.counts.names}


def test_every_function_reaches_a_tool_in_the_program_once(workshop, description):
    workshop.write("caller.c", pmpi_tool.caller(description))
    workshop.mpicc("-o", "caller-static", "caller.c", "libtool.a")
    done, counts = workshop.run("./caller-static", PMPI_TOOL_PASSES="0")
    assert done.returncode == 0, done.stdout
    assert counts == {name: (1, 0) for name in workshop.counts.names}


def test_preloaded_tool(workshop):
    preloads()
    assert workshop.known("known", PRELOAD="libtool.so") == KNOWN_CALLS


def test_tool_in_an_archive(workshop):
    workshop.mpicc("-o", "known-archive", "known.c", "libtool.a")
    assert workshop.known("known-archive") == KNOWN_CALLS


def test_tool_as_a_library_before_the_library(workshop):
    workshop.mpicc("-o", "known-linked", "known.c", "-L.", "-ltool", f"-Wl,-rpath,{workshop.folder}")
    assert workshop.known("known-linked") == KNOWN_CALLS


def test_tool_for_one_function(workshop, description):
    preloads()
    workshop.write("send.c", pmpi_tool.tool(description, only=["MPI_Send"]))
    workshop.mpicc("-shared", "-fPIC", "-o", "libsend.so", "send.c")
    assert workshop.known("known", PRELOAD="libsend.so") == {"MPI_Send": 7}


def test_a_call_from_inside_the_library_is_seen(workshop):
    """A library whose name begins like that of the core calls an MPI_ name. The tool must count this call as
    one from inside the library."""
    workshop.write("inside.c",
                   "#include <mpi.h>\nint inside(void) {\n    int flag;\n    return "
                   "MPI_Initialized(&flag);\n}\n")
    workshop.mpicc("-shared", "-fPIC", "-o", "liblanyard.so.test", "inside.c")
    workshop.write("outside.c", "#include <mpi.h>\nint inside(void);\nint main(void) {\n    int flag;\n"
                                "    MPI_Finalized(&flag);\n    return inside();\n}\n")
    workshop.mpicc("-o", "outside", "outside.c", "libtool.a", "./liblanyard.so.test")
    done, counts = workshop.run("./outside")
    assert done.returncode == 0, done.stdout
    assert counts == {"MPI_Initialized": (1, 1), "MPI_Finalized": (1, 0)}


def test_without_a_tool_nothing_is_counted(workshop):
    assert not workshop.known("known")


def jobs(build):
    """Lists one job for each program of tests/mpi: (name, command, settings, what it must print). If a
    program has several tests, the job is that of the test with the fewest ranks, but a test with one rank is
    used only if there is no other."""
    done = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True,
                          text=True, check=True)
    found = {}
    for test in json.loads(done.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        command = test.get("command", [])
        if not {"mpi"} & set(properties.get("LABELS", [])) or len(command) != 4 or command[1] != "-n":
            continue
        program = pathlib.Path(command[3]).name
        ranks = int(command[2])
        rather = (ranks < 2, ranks)
        if program not in LEFT_OUT and (program not in found or rather < found[program][0]):
            settings = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
            found[program] = (rather, program, command, settings, properties.get("PASS_REGULAR_EXPRESSION"))
    return sorted(job[1:] for job in found.values())


@pytest.fixture(scope="module", name="performed")
def run_every_program(workshop):
    """Runs the programs of tests/mpi under the tool. Returns (name, complaint, counts, errors) for each
    program."""
    preloads()
    every = jobs(workshop.build)
    if not every:
        pytest.skip("the programs of tests/mpi are not built")
    performed = []
    for program, command, settings, must_print in every:
        done, counts = workshop.run(*command, PRELOAD="libtool.so", **settings)
        good = (all(re.search(text, done.stdout) for text in must_print) if must_print
                else done.returncode in (0, 77))
        performed.append((program, "" if good else f"exit code {done.returncode}:\n{done.stdout}", counts,
                          workshop.counts.errors()))
    return performed


def test_programs_do_not_notice_the_tool(performed):
    complaints = [f"{program}: {complaint}" for program, complaint, _counts, _errors in performed
                  if complaint]
    assert not complaints, "\n".join(complaints)


def test_the_library_calls_no_function_of_the_tool(performed):
    for program, _complaint, counts, _errors in performed:
        inside = {name: from_library for name, (_calls, from_library) in counts.items() if from_library}
        assert not inside, f"{program}: the library has called {inside}"


def test_every_implemented_function_went_through_the_tool(workshop, performed):
    called = set().union(*(counts for _program, _complaint, counts, _errors in performed))
    done = subprocess.run([workshop.build / "bin" / "lanyard", "info", "--coverage", "--json"],
                          capture_output=True, text=True, check=True)
    implemented = {function["name"] for function in json.loads(done.stdout)["functions"]
                   if function["implemented"]}
    missing = sorted(implemented - called - set(CALLED_ELSEWHERE))
    assert not missing, "no program of tests/mpi called these through the tool:\n  " + "\n  ".join(missing)


def test_errors_that_functions_return_are_on_their_pages(description, performed):
    from generator.reference import Reference
    reference = Reference(description)
    names = {c["value"]: name for group in ("error_class", "tool_error_class")
             for name, c in description.constants[group]["values"].items()}
    found, missing = 0, []
    for program, _complaint, _counts, errors in performed:
        for name, values in errors.items():
            function = reference.by_name.get(name) or reference.by_name[name.removesuffix("_c")]
            documented = {error_class
                          for error_class, _sentence in reference.page(function).errors} | ERRORS_OF_ALL
            wrong = sorted(names.get(value, str(value))
                           for value in values if names.get(value) not in documented)
            missing += [f"{program}: {name} has returned {error}; its page in docs/reference does not say so"
                        for error in wrong]
            found += len(values)
    assert not missing, "\n".join(missing)
    assert found > 30
