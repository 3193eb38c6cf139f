"""Tests bench/imb.py: it must read each form of table of IMB-MPI1, and pin ranks like other parts."""
import pathlib
import sys

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import imb  # noqa: E402
import measure  # noqa: E402
import peers  # noqa: E402

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


def test_open_mpi_takes_no_part(monkeypatch):
    monkeypatch.setattr(peers, "processors", lambda: 2)
    all_of_them = {key: library(key) for key in peers.ALL}
    assert list(imb.choose(all_of_them, 2)) == ["lanyard", "mpich", "impi"]
    assert list(imb.choose(all_of_them, 4)) == ["lanyard", "mpich", "impi", "impi-wait"]


def test_ranks_are_pinned_if_there_are_enough_processors(monkeypatch):
    monkeypatch.setattr(peers, "processors", lambda: 2)
    assert "taskset" in " ".join(imb.command(library("mpich"), 2, "IMB-MPI1"))
    command = imb.command(library("mpich"), 4, "IMB-MPI1")
    assert command[:4] == ["/bin/mpich", "-n", "4", "IMB-MPI1"] and command[-7:-5] == ["4", "-msglog"]
