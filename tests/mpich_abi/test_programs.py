"""Tests that programs that others have compiled for the MPICH ABI run unmodified.

These are mpi4py's wheel, Debian's NetPIPE, Intel's benchmarks, and programs compiled with MPICH's and Intel's
mpicc. The packages are downloaded once, into build/.
"""
import os
import re
import shutil
import subprocess
import tomllib

import pytest

from .conftest import BUILD, INTEL_VERSION, ROOT, clean_environment

SHOW_LIBRARY = """
import numpy
from mpi4py import MPI
mapped = {line.split()[-1] for line in open("/proc/self/maps") if "libmpi" in line}
print(*sorted(mapped), flush=True)
world, given, total = MPI.COMM_WORLD, numpy.full(3, 2.0), numpy.zeros(3)
world.Allreduce(given, total)
assert total.tolist() == [2.0 * world.size] * 3, total
assert world.allgather(world.rank) == list(range(world.size))
"""

# A library with the names of Open MPI's library, in a folder on the user's search path. The wheel must not
# load it.
DECOY = "int ompi_mpi_comm_self; int MPI_Get_version(int *a, int *b) { *a = 3; *b = 1; return 0; }"


PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    int rank, in, out = 0, length;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    in = rank + 1;
    MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Get_library_version(version, &length);
    if (rank == 0) printf("%d %.7s\\n", out, strstr(version, "Lanyard"));
    MPI_Finalize();
    return 0;
}
"""


def libraries(out):
    return {path for line in out.splitlines() for path in line.split()}


def test_wheel_runs_with_nothing_built(job, wheel, library):
    code, out, err = job(4, wheel, "-c", SHOW_LIBRARY)
    assert (code, err) == (0, "")
    assert libraries(out) == {str(library.resolve())}


POOLS = """
import concurrent.futures, multiprocessing.forkserver, subprocess, sys
from mpi4py import MPI
world = MPI.COMM_WORLD

def seen(number):
    return world.Get_rank(), world.Get_size(), world.allreduce(number)

if __name__ == "__main__":
    shown = [(0, 1, number) for number in range(3)]
    for method in ("spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            assert pool.map(seen, range(3)) == shown, method
        if method == "forkserver":  # newer Pythons load the script itself, and with it MPI, into the server
            multiprocessing.forkserver._forkserver._stop()
            context.set_forkserver_preload(["mpi4py.MPI"])
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            assert list(pool.map(seen, range(3))) == shown, method
    alone = subprocess.run([sys.executable, "-c", \
"from mpi4py import MPI; print(MPI.COMM_WORLD.Get_size())"], stdout=subprocess.PIPE)
    assert alone.stdout == b"1\\n"
    print(world.allreduce(1), flush=True)
"""


def test_pools_of_python_in_ranks(job, wheel, tmp_path):
    """The workers of a pool import the script and so MPI, too. Each must be a process outside the job."""
    (tmp_path / "pools.py").write_text(POOLS)
    assert job(2, wheel, tmp_path / "pools.py", PYTHONDONTWRITEBYTECODE="1") == (0, "2\n2\n", "")


def test_wheel_passes_by_an_open_mpi(job, wheel, library, tmp_path):
    (tmp_path / "decoy.c").write_text(DECOY)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "libmpi.so.40", tmp_path / "decoy.c"],
                   check=True)
    (tmp_path / "libmpi.so").symlink_to("libmpi.so.40")
    code, out, err = job(2, wheel, "-c", SHOW_LIBRARY, LD_LIBRARY_PATH=str(tmp_path))
    assert (code, err) == (0, "")
    assert libraries(out) == {str(library.resolve())}


def test_wheel_beside_mpich_runs_on_mpich(job, wheel_and_mpich):
    """An environment with its own MPI must keep using that MPI. mpirun must start such ranks as well."""
    code, out, err = job(3, wheel_and_mpich, "-c", SHOW_LIBRARY)
    assert code == 0, err
    loaded = libraries(out)
    assert loaded and all(str(wheel_and_mpich.parents[1]) in path for path in loaded), loaded


def test_program_of_mpich_mpicc(job, wheel_and_mpich, tmp_path):
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run([wheel_and_mpich.parent / "mpicc", "-o", tmp_path / "program", tmp_path / "program.c"],
                   check=True)
    assert job(3, tmp_path / "program") == (0, "6 Lanyard\n", "")


def test_program_of_intel_mpicc(job, intel, tmp_path):
    """The program's RUNPATH leads to Intel's library. Even so, it must use the library of its mpirun."""
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run([intel / "bin" / "mpicc", "-o", tmp_path / "program", tmp_path / "program.c"], check=True,
                   env={**os.environ, "I_MPI_ROOT": str(intel)})
    dynamic = subprocess.run(["readelf", "-d", tmp_path / "program"], capture_output=True, text=True,
                             check=True).stdout
    assert "[libmpi.so.12]" in dynamic and str(intel / "lib") in dynamic
    assert job(3, tmp_path / "program") == (0, "6 Lanyard\n", "")


def test_intels_benchmark(job, intel, library):
    program = intel / "bin" / "IMB-MPI1"
    # The loader lists the libraries that it would load.
    code, out, err = job(1, "env", "LD_TRACE_LOADED_OBJECTS=1", program)
    assert code == 0 and f"libmpi.so.12 => {library} " in out, out + err
    code, out, err = job(2, program, "-msglog", "0:3", "-iter", "10", "PingPong")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if re.match(r"\s+\d+\s+10\s", line)]
    assert [int(row[0]) for row in rows] == [0, 1, 2, 4, 8] and all(float(row[2]) > 0 for row in rows), out


def test_lists_of_imported_names_are_true(wheel, intel):
    """The lists must agree with the programs. The test mpich-imported looks up their names in the library."""
    module, = (wheel.parents[1] / "lib").glob("python*/site-packages/mpi4py/MPI.mpich.*.so")
    version = re.search(r"mpi4py==(\S+)", (ROOT / "tests" / "mpi4py" / "requirements.txt").read_text())[1]
    lists = ROOT / "tests" / "mpich_abi" / "imported"
    programs = {f"mpi4py-{version}.txt": module,
                f"IMB-MPI1-{INTEL_VERSION.rpartition('.')[0]}.txt": intel / "bin" / "IMB-MPI1"}
    assert {path.name for path in lists.iterdir()} == set(programs)
    for name, program in programs.items():
        listed = subprocess.run(["nm", "-D", "--undefined-only", program], capture_output=True, text=True,
                                check=True).stdout
        names = {line.split()[-1] for line in listed.splitlines() if "MPI" in line}
        assert names == set((lists / name).read_text().split()), name


def test_values_are_those_of_the_header(wheel_and_mpich, tmp_path):
    """Every value of api/mpich_abi/values.toml must agree with the header that MPICH installs."""
    groups = tomllib.loads((ROOT / "api" / "mpich_abi" / "values.toml").read_text())
    groups.pop("abi")
    values = {name: value for group in groups.values() for name, value in group.items()}
    lines = [f'    printf("{name} %lld\\n", (long long)(long)({name}));' for name in values]
    source = tmp_path / "values.c"
    source.write_text("\n".join(["#include <mpi.h>", "#include <stdio.h>", "int main(void) {", *lines,
                                 "    return 0;", "}"]))
    include = wheel_and_mpich.parents[1] / "include"
    subprocess.run(["cc", "-w", f"-I{include}", "-o", tmp_path / "values", source], check=True)
    done = subprocess.run([tmp_path / "values"], capture_output=True, text=True, check=True)
    found = {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()}
    differing = {name: (value, found[name]) for name, value in values.items()
                 if (value - found[name]) % 2**32 != 0}
    assert differing == {}


def test_netpipe_of_debian(job, unsanitized, tmp_path):
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        pytest.skip("this is no Debian")
    cache = ROOT / "build" / "mpich_abi"
    if not list(cache.glob("netpipe-mpich2_*.deb")):
        cache.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["apt-get", "download", "netpipe-mpich2"], cwd=cache, capture_output=True,
                              text=True, check=False)
        if "Unable to locate package" in done.stderr or "no installation candidate" in done.stderr.lower():
            pytest.skip("this Debian has no package netpipe-mpich2")
        assert done.returncode == 0, done.stderr
    package, *_ = cache.glob("netpipe-mpich2_*.deb")
    subprocess.run(["dpkg", "-x", package, tmp_path], check=True)
    program = tmp_path / "usr" / "bin" / "NPmpich2"
    needed = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    assert re.search(r"\[libmpich?\.so\.12\]", needed)
    code, _, err = job(2, program, "-u", "65536", "-n", "20", "-o", tmp_path / "result")
    assert code == 0, err
    rows = (tmp_path / "result").read_text().splitlines()
    assert int(rows[-1].split()[0]) >= 65536 and all(float(row.split()[1]) > 0 for row in rows)


def test_doctor_and_mpirun_know_the_library(job, library):
    done = subprocess.run([BUILD / "bin" / "lanyard", "doctor", "--json"], capture_output=True, text=True,
                          check=False, env=clean_environment())
    assert library.name in done.stdout
    code, out, _ = job(1, "sh", "-c", "echo $LD_LIBRARY_PATH")
    assert (code, out) == (0, f"{library.parent}\n")
