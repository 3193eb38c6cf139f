"""Tests bench/imb.py: it must read each form of table of IMB-MPI1, and pin ranks like other parts."""
import os
import pathlib
import subprocess
import sys

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import imb  # noqa: E402
import measure  # noqa: E402
import parts  # noqa: E402
import peers  # noqa: E402
import routes  # noqa: E402

TABLES = """
# List of Benchmarks to run:
# PingPong

#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.25         0.00
         1024         1000         0.75      1365.33

#-----------------------------------------------------------------------------
# Benchmarking Exchange
# #processes = 2
#-----------------------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            1         1000         1.00         3.00         2.00         1.33

#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 2
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
      4194304            3      1000.00      1200.50      1100.00

#---------------------------------------------------
# Benchmarking Barrier
# #processes = 2
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         0.40         0.60         0.50


# All processes entering MPI_Finalize
"""


def library(key):
    return peers.Library(key, key, pathlib.Path("/"), None, lambda ranks: [f"/bin/{key}", "-n", str(ranks)],
                         {})


def test_tables_of_every_form_are_read():
    assert imb.read(TABLES) == {("PingPong", 0): (0.25, "us"), ("PingPong", 1024): (0.75, "us"),
                                ("Exchange", 1): (3.0, "us"), ("Allreduce", 4194304): (1200.5, "us"),
                                ("Barrier", 0): (0.6, "us")}


def test_a_size_for_which_the_time_was_not_enough_has_no_figure():
    late = 'time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over; use "-time X"'
    tables = TABLES.replace("3      1000.00      1200.50      1100.00", late)
    assert late in tables and ("Allreduce", 4194304) not in imb.read(tables)


def test_a_line_with_other_columns_is_no_figure():
    with pytest.raises(measure.Failed, match="5 instead of 4 numbers"):
        imb.read(TABLES.replace("0.25         0.00", "0.25  0.00  7"))


def test_a_benchmark_without_figures_is_a_failure(monkeypatch):
    monkeypatch.setattr(measure, "version", lambda library: "1")
    monkeypatch.setattr(measure, "run_command", lambda *words: TABLES)
    with pytest.raises(measure.Failed, match="nothing for PingPing, Sendrecv, Reduce"):
        imb.run(library("mpich"), 2, "IMB-MPI1")


@pytest.mark.parametrize("ranks, chosen", [(2, ["lanyard", "mpich", "impi"]),
                                           (4, ["lanyard", "mpich", "impi", "impi-wait"])])
def test_open_mpi_takes_no_part(monkeypatch, ranks, chosen):
    monkeypatch.setattr(peers, "processors", lambda: 2)
    part, = (part for part in parts.IMB if part.name == f"imb-{ranks}")
    assert list(part.choose({key: library(key) for key in peers.ALL})) == chosen
    assert part.path == pathlib.Path("/bin/IMB-MPI1")
    assert not part.choose({"mpich": library("mpich")})


def test_ranks_are_pinned_if_there_are_enough_processors(monkeypatch):
    monkeypatch.setattr(peers, "processors", lambda: 2)
    monkeypatch.setattr(measure.os, "sched_getaffinity", lambda process: {5, 3})
    words = measure.pinning(2)
    assert imb.command(library("mpich"), 2, "IMB-MPI1")[3:6] == words
    shown = [words[0], words[1], words[2].replace("exec", "echo")]
    for rank, processor in ((0, 3), (1, 5)):
        done = subprocess.run([*shown, "program"], env={**os.environ, "PMI_RANK": str(rank)},
                              capture_output=True, text=True, check=True)
        assert done.stdout == f"taskset -c {processor} program\n"
    command = imb.command(library("mpich"), 4, "IMB-MPI1")
    assert command[:4] == ["/bin/mpich", "-n", "4", "IMB-MPI1"] and command[-7:-5] == ["4", "-msglog"]
    assert command[-3] == str(imb.CROWDED_REPETITIONS)


def test_collectives_that_leave_the_path_are_not_run():
    on_tcp = {"I_MPI_FABRICS": "ofi"}
    words = imb.command(routes.changed(library("impi"), on_tcp), 4, "IMB-MPI1")
    assert words[4:words.index("-npmin")] == list(imb.POINT_TO_POINT)
    assert "Bcast" in imb.command(library("impi"), 4, "IMB-MPI1")
