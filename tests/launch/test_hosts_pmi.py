"""Tests PMI-1 across hosts with ranks that send their requests themselves: all ranks share one table and one
barrier, and some ranks fail while they use them. The hosts are those of test_hosts.py."""
import re

import pytest


@pytest.mark.parametrize("fan_out", [16, 2])
def test_values_travel_with_the_barrier(mpirun, hosts, fan_out):
    code, out, err = hosts("a:2,b,localhost,c,d,e", "--fan-out", fan_out, "-n", 14, *mpirun.pmi_client("""
name = init()
for turn in range(5):
    answer = ask(f"cmd=put kvsname={name} key=k{turn}.{rank} value={turn}={rank};#")
    assert answer.startswith("cmd=put_result rc=0")
    assert ask("cmd=barrier_in") == "cmd=barrier_out rc=0"
    for i in range(size):
        assert fields(ask(f"cmd=get kvsname={name} key=k{turn}.{i}"))["value"] == f"{turn}={i};#"
    assert "rc=-1" in ask(f"cmd=get kvsname={name} key=k{turn}.{size}")
assert ask("cmd=barrier_in") == "cmd=barrier_out rc=0"
ask("cmd=finalize")"""))
    assert (code, out, err) == (0, "", "")


def test_barrier_waits_for_all(mpirun, hosts):
    code, out, err = hosts("a,b,c", "-n", 3, *mpirun.pmi_client("""
init()
if rank == 2:
    time.sleep(0.3)
    open("entered", "w").close()
ask("cmd=barrier_in")
print(os.path.exists("entered"))
ask("cmd=finalize")"""))
    assert (code, out, err) == (0, "True\n" * 3, "")


@pytest.mark.parametrize(("options", "mapping"), [
    ([], "(vector,(0,1,2),(1,2,1))"), (["-rr"], "(vector,(0,3,1),(0,1,2),(1,1,1))"),
    (["-ppn", "1"], "(vector,(0,3,1))"), (["-ppn", "2"], "(vector,(0,3,2))"),
], ids=str)
def test_nodes_are_told(mpirun, hosts, options, mapping):
    code, out, err = hosts("a:2,b,c", *options, "-n", 6, *mpirun.pmi_client("""
name = init()
print(fields(ask(f"cmd=get kvsname={name} key=PMI_process_mapping"))["value"], ask("cmd=get_universe_size"))
ask("cmd=finalize")"""))
    assert (code, err) == (0, "")
    assert set(out.splitlines()) == {f"{mapping} cmd=universe_size rc=0 size=6"}


def test_abort_for_an_error(mpirun, hosts):
    code, _, err = hosts("a,b", "-n", 2, *mpirun.pmi_client("""
init()
if rank == 1: ask("cmd=abort exitcode=42 for=error")
time.sleep(1000)"""))
    assert code == 42
    assert re.fullmatch(
        r"mpirun: rank 1 \(.*python3?[\d.]*, on b\) ended the job because of an error, code 42\n", err)


def test_abort(mpirun, hosts):
    code, _, err = hosts("a,b", "--fan-out", 1, "-n", 2, *mpirun.pmi_client("""
init()
if rank == 1:
    print("last words", file=sys.stderr, flush=True)
    ask("cmd=abort exitcode=42")
time.sleep(1000)"""))
    assert code == 42
    assert re.fullmatch(
        r"last words\nmpirun: rank 1 \(.*python3?[\d.]*, on b\) ended the job with MPI_Abort, code 42\n", err)


def test_rank_that_leaves_without_finalize(mpirun, hosts):
    code, _, err = hosts("a,b", "-n", 2, *mpirun.pmi_client("init(); rank or sys.exit(0); time.sleep(1000)"))
    assert code == 1
    assert ("rank 0 (" in err and
            "on a) ended with exit code 0 but without calling MPI_Finalize, while another rank was "
            "running" in err)
