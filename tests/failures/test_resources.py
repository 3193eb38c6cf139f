"""Memory that the system refuses: a process ends with a sentence."""
import os
import re

import pytest

SANITIZED = "-fsanitize" in os.environ.get("LANYARD_CC", "")


@pytest.mark.skipif(SANITIZED, reason="the memory of a sanitizer is its own")
@pytest.mark.parametrize("limit", ["-v", "-d"])
def test_a_process_that_gets_no_more_memory_ends_with_a_sentence(mpirun, program, limit):
    code, out, err = mpirun.run("-n", 2, program("hungry"), limit)
    assert (code, out) == (39, "a line\n"), err  # 39: MPI_ERR_NO_MEM
    told, by_mpirun = err.splitlines()
    assert re.fullmatch(rf"Lanyard: rank 1 gets no more memory: ulimit {limit} allows it \d+ KiB; "
                        r"raise that, or ask for less; it ends", told), err
    assert re.fullmatch(r"mpirun: rank 1 \(\S*hungry, process \d+ on \S+\) ended with exit code 39", by_mpirun), err
