"""Tests bench-applications of the build named by LANYARD_BUILD.

Every application must verify its result and report what it sent.
"""
import json
import os
import pathlib
import re
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", "build/release")).absolute()
KERNELS = ("ep", "mg", "cg", "ft", "is")
PATTERNS = ("wavefront", "directions", "peers", "halo", "panels")


def applications(*arguments, ranks=2, settings=None):
    done = subprocess.run([str(BUILD / "bin" / "mpirun"), "-n", str(ranks),
                           str(BUILD / "libexec" / "lanyard" / "bench-applications"),
                           *arguments], capture_output=True, text=True, timeout=200, check=False,
                          env={**os.environ, **(settings or {})})
    # Removes the progress messages. They appear every few seconds, so there are some only on a busy machine.
    done.stderr = re.sub(r"(?m)^\S+: \d+ of \d+ steps after \d+ s\n", "", done.stderr)
    return done


@pytest.mark.parametrize("settings", [{}, {"LANYARD_PATHS": "self,tcp"}], ids=["shm", "tcp"])
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_every_application_comes_to_the_published_result(ranks, settings):
    done = applications("--class", "S", "--json", ranks=ranks, settings=settings)
    assert (done.returncode, done.stderr) == (0, "")
    rows = {row["name"]: row for row in json.loads(done.stdout)["results"]}
    for name in (*KERNELS, *PATTERNS):
        assert 0 <= rows[f"{name}.S in MPI"]["median"] <= rows[f"{name}.S"]["median"]
        assert (f"{name}.S rate" in rows) == (name in KERNELS)


@pytest.mark.parametrize("ranks", [3, 5, 6])
def test_patterns_and_ep_take_any_number_of_ranks(ranks):
    done = applications("--class", "S", "--parts", ",".join(("ep", *PATTERNS)), ranks=ranks)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("is verified") == 1 + len(PATTERNS)


# With 8 or 16 ranks on class S, mg collects its coarse grids on every rank. With 8 ranks, cg's grid has twice
# as many columns as rows.
@pytest.mark.parametrize("ranks", [8, 16])
def test_many_ranks(ranks):
    done = applications("--class", "S", "--parts", ",".join(KERNELS), ranks=ranks)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("is verified") == 5


def test_more_blocks_are_more_runs():
    done = applications("--parts", "is", "--blocks", "4", "--json", "--class", "S")
    assert (done.returncode, done.stderr) == (0, "")
    assert [row["samples"] for row in json.loads(done.stdout)["results"]] == [4, 4, 4, 4]


def test_a_table_tells_what_was_sent():
    done = applications("--parts", "cg", "--class", "S")
    assert (done.returncode, done.stderr) == (0, "")
    # In each of 15 steps, both ranks send their halves of 25 + 1 products, and 1 + 50 + 1 + 1 sums.
    assert f"{2 * 15 * (26 + 53)} messages" in done.stdout
    assert "the largest had 5600 B; a rank sent to 1 other at" in done.stdout
    cumulative = [line.split() for line in done.stdout.splitlines() if line.strip().startswith("to ")]
    assert [line[1] for line in cumulative] == ["15", "31", "8191"]
    assert cumulative[-1][4] == "100.0"


@pytest.mark.parametrize(("arguments", "ranks", "words"), [
    (["--class", "Q"], 2, "--class: Q not in {S,W,A,B}"),
    (["--parts", "lu"], 2, "--parts: lu not in"),
    (["--parts", "ep,cg,is"], 3,
     "cg needs a power of two of ranks, this job has 3. The others would run: --parts ep"),
    (["--parts", "cg"], 3, "bench-applications: cg needs a power of two of ranks, this job has 3\n"),
    (["--parts", "ft", "--class", "W"], 64, "ft has 32 planes in class W, too few for 64 ranks"),
])
def test_what_cannot_run_is_said(arguments, ranks, words):
    done = applications(*arguments, ranks=ranks)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_wrong_result_ends_the_job(tmp_path):
    """The test replaces the library's PMPI_Alltoallv by a function that delivers no keys.

    The program's own MPI_Alltoallv (traffic.cc) calls this function. With the address sanitizer, the library
    comes before the sanitizer's, which this sanitizer otherwise refuses.
    """
    source = tmp_path / "wrong.c"
    source.write_text("""
        #include <mpi.h>
        int PMPI_Alltoallv(const void *out, const int *out_counts, const int *out_places,
                           MPI_Datatype out_type, void *in, const int *in_counts, const int *in_places,
                           MPI_Datatype in_type, MPI_Comm comm) {
            (void)out, (void)out_counts, (void)out_places, (void)out_type;
            (void)in, (void)in_counts, (void)in_places, (void)in_type, (void)comm;
            return MPI_SUCCESS;
        }
    """)
    library = tmp_path / "libwrong.so"
    subprocess.run([str(BUILD / "bin" / "mpicc"), "-shared", "-fPIC", "-o", str(library), str(source)],
                   check=True)
    asan = f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"
    done = applications("--parts", "is", "--class", "S", settings={"LD_PRELOAD": str(library),
                                                                   "ASAN_OPTIONS": asan})
    assert done.returncode == 1
    assert "is.S came to a wrong result" in done.stderr
