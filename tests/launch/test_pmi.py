"""Tests mpirun's PMI-1 server with requests of the test itself and with MPICH, and Lanyard's PMI-1 client
under MPICH's launcher."""
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def job(mpirun, ranks, text, *options, **keywords):
    return mpirun.run("-n", ranks, *options, *mpirun.pmi_client(text), **keywords)


def test_identity(mpirun):
    code, out, err = job(mpirun, 3, """
name = init()
print(name == os.environ["LANYARD_JOB"], ask("cmd=get_maxes"), ask("cmd=get_appnum"),
      ask("cmd=get_universe_size"), ask("cmd=finalize"), sep="|")""")
    line = "True|cmd=maxes rc=0 kvsname_max=256 keylen_max=256 vallen_max=4096|cmd=appnum rc=0 appnum=0 " \
           "maxprocs=3|cmd=universe_size rc=0 size=3" \
           "|cmd=finalize_ack rc=0\n"
    assert (code, out, err) == (0, line * 3, "")


def test_appnum_counts_programs(mpirun):
    program = mpirun.pmi_client("init(); print(rank, ask('cmd=get_appnum'))")
    code, out, _ = mpirun.run("-n", 1, *program, ":", "-n", 2, *program)
    assert code == 0
    assert sorted(out.splitlines()) == [
        f"{rank} cmd=appnum rc=0 appnum={min(rank, 1)} maxprocs={1 + min(rank, 1)}" for rank in range(3)]


def test_put_barrier_get(mpirun):
    code, out, err = job(mpirun, 8, """
name = init()
assert ask(f"cmd=put kvsname={name} key=k{rank} value=v={rank};#").startswith("cmd=put_result rc=0")
assert ask("cmd=barrier_in") == "cmd=barrier_out rc=0"
got = [fields(ask(f"cmd=get kvsname={name} key=k{i}"))["value"] for i in range(size)]
assert got == [f"v={i};#" for i in range(size)], got
assert ask("cmd=barrier_in") == "cmd=barrier_out rc=0"
ask("cmd=finalize")""")
    assert (code, out, err) == (0, "", "")


def test_barrier_waits_for_all(mpirun):
    code, out, err = job(mpirun, 3, """
init()
if rank == 2:
    time.sleep(0.3)
    open("entered", "w").close()
ask("cmd=barrier_in")
print(os.path.exists("entered"))
ask("cmd=finalize")""")
    assert (code, out, err) == (0, "True\n" * 3, "")


def test_process_mapping_says_one_node(mpirun):
    code, out, _ = job(mpirun, 5, """
name = init()
if rank == 0: print(ask(f"cmd=get kvsname={name} key=PMI_process_mapping"))""")
    assert (code, out) == (0, "cmd=get_result rc=0 msg=success value=(vector,(0,1,5))\n")


@pytest.mark.parametrize(("request_line", "answer"), [
    ("cmd=get kvsname=NAME key=absent", "cmd=get_result rc=-1 msg=key_not_found value=unknown"),
    ("cmd=get kvsname=other key=absent", "cmd=get_result rc=-1 msg=unknown_kvsname value=unknown"),
    ("cmd=put kvsname=other key=k value=v", "cmd=put_result rc=-1 msg=unknown kvsname"),
    ("cmd=put kvsname=NAME key= value=v", "cmd=put_result rc=-1 msg=key missing or too long"),
    ("cmd=put kvsname=NAME key=k value=" + "x" * 4096, "cmd=put_result rc=-1 msg=value too long"),
    ("cmd=publish_name service=s port=p", "cmd=publish_result rc=-1 msg=this launcher publishes no names"),
    ("cmd=lookup_name service=s", "cmd=lookup_result rc=-1 msg=this launcher publishes no names"),
    ("cmd=unpublish_name service=s", "cmd=unpublish_result rc=-1 msg=this launcher publishes no names"),
    ("mcmd=spawn\\nnprocs=1\\nexecname=x\\nendcmd",
     "cmd=spawn_result rc=-1 status=-1 msg=this launcher does not start further processes"),
    ("cmd=nonsense", "cmd=nonsense_result rc=-1 msg=unknown command"),
    ("", "cmd=_result rc=-1 msg=unknown command"),
], ids=lambda value: value[:24])
def test_refused_requests(mpirun, request_line, answer):
    code, out, _ = job(mpirun, 1, f"""
name = init()
print(ask("{request_line}".replace("NAME", name)))
print(ask("cmd=get_appnum"))  # the connection is still in order
ask("cmd=finalize")""")
    assert (code, out) == (0, f"{answer}\ncmd=appnum rc=0 appnum=0 maxprocs=1\n")


def test_other_protocol_version_is_refused(mpirun):
    code, out, _ = job(mpirun, 1, "print(ask('cmd=init pmi_version=2 pmi_subversion=0'))")
    assert (code, out) == (0, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n")


def test_requests_in_pieces_and_several_at_once(mpirun):
    code, out, _ = job(mpirun, 1, """
for letter in "cmd=get_appnum" + chr(10): connection.sendall(letter.encode()); time.sleep(0.002)
print(lines.readline().rstrip())
say(chr(10).join(["cmd=get_appnum"] * 1000))
print(sum(lines.readline() == "cmd=appnum rc=0 appnum=0 maxprocs=1" + chr(10) for _ in range(1000)))""")
    assert (code, out) == (0, "cmd=appnum rc=0 appnum=0 maxprocs=1\n1000\n")


def test_garbage_harms_only_its_sender(mpirun):
    code, out, err = job(mpirun, 2, """
if rank == 1:
    try:
        for _ in range(100): connection.sendall(os.urandom(5000).replace(bytes([10]), b" "))
    except OSError: pass
else: print(ask("cmd=get_appnum"))""")
    assert (code, out, err) == (0, "cmd=appnum rc=0 appnum=0 maxprocs=2\n", "")


@pytest.mark.parametrize(("code", "expected"), [(3, 3), (255, 255), (256, 1), (0, 0), (-1, 255), (1000, 232)])
def test_abort(mpirun, code, expected):
    result, out, err = job(mpirun, 3, f"""
init()
if rank == 1: say("cmd=abort exitcode={code}")
time.sleep(1000)""")
    assert (result, out) == (expected, "")
    assert re.match(rf"mpirun: rank 1 \(.*\) ended the job with MPI_Abort, code {code}\n$", err)


def test_abort_goes_before_the_exit_that_follows(mpirun):
    for _ in range(5):
        result, _, err = job(mpirun, 2, """
init()
if rank == 1:
    say("cmd=abort exitcode=9")
    os._exit(77)
time.sleep(1000)""")
        assert result == 9
        assert "MPI_Abort, code 9" in err


def test_leaving_without_finalize_ends_the_others(mpirun):
    code, _, err = job(mpirun, 3, """
init()
if rank == 1: sys.exit(0)
ask("cmd=barrier_in")""")
    assert code == 1
    assert ("rank 1 (" in err and
            "ended with exit code 0 but without calling MPI_Finalize, while 2 other ranks were "
            "running" in err)


def test_leaving_without_finalize_all_together_is_success(mpirun):
    assert job(mpirun, 3, "init()") == (0, "", "")


def test_leaving_without_finalize_is_success_if_the_others_end_in_time(mpirun):
    """Rank 1 ends after rank 0, and in time, but leaves a process behind. When this process receives SIGTERM,
    no rank is left. It then stops the guard until the time of the ranks is over."""
    code, out, err = job(mpirun, 2, """
import signal
init()
if rank == 0: open("first", "w").write(str(os.getpid()))
ask("cmd=barrier_in")
if rank == 0: os._exit(0)
guard, first = os.getppid(), open("first").read()
def stop_guard(number, frame):
    os.kill(guard, signal.SIGSTOP)
    time.sleep(2.2)
    os.kill(guard, signal.SIGCONT)
    os._exit(0)
signal.signal(signal.SIGTERM, stop_guard)
if os.fork() == 0:
    while True: time.sleep(0.05)
while os.path.exists("/proc/" + first): time.sleep(0.005)
os._exit(0)""")
    assert (code, out, err) == (0, "", "")


HELLO = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
    int rank, size, sum, set, *program;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &program, &set);
    printf("%d of %d, sum %d, program %d\\n", rank, size, sum, set ? *program : -1);
    fflush(stdout);
    if (count > 1 && rank == 1) MPI_Abort(MPI_COMM_WORLD, atoi(words[1]));
    if (count > 1) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture
def mpich_hello(mpich, built):
    return built("mpich_hello", HELLO, mpich / "bin" / "mpicc")


@pytest.fixture
def on_mpich(mpich):
    """The environment in which these programs run on MPICH: LD_LIBRARY_PATH names its folder. Otherwise they
    would run on Lanyard."""
    return {"LD_LIBRARY_PATH": str(mpich / "lib")}


def test_mpich_program(mpirun, mpich_hello, on_mpich):
    code, out, err = mpirun.run("-n", 4, mpich_hello, env=on_mpich)
    assert (code, err) == (0, "")
    assert sorted(out.splitlines()) == [f"{rank} of 4, sum 6, program 0" for rank in range(4)]


def test_mpich_programs_side_by_side(mpirun, mpich_hello, on_mpich):
    code, out, _ = mpirun.run("-n", 1, mpich_hello, ":", "-n", 2, mpich_hello, env=on_mpich)
    assert code == 0
    assert sorted(out.splitlines()) == [f"{rank} of 3, sum 3, program {min(rank, 1)}" for rank in range(3)]


def test_mpich_program_aborts(mpirun, mpich_hello, on_mpich, mpich_files):
    code, _, err = mpirun.run("-n", 3, mpich_hello, "7", env=on_mpich)
    assert code == 7
    assert "ended the job with MPI_Abort, code 7" in err


def test_mpich_job_within_a_rank(mpirun, mpich_hello, on_mpich, mpich):
    """A rank of a Lanyard job starts MPICH's own launcher. Lanyard's variables in the environment must not
    disturb MPICH's job."""
    code, out, _ = mpirun.run("-n", 1, mpich / "bin" / "mpiexec", "-n", 2, mpich_hello, env=on_mpich)
    assert code == 0
    assert sorted(out.splitlines()) == [f"{rank} of 2, sum 1, program 0" for rank in range(2)]


# The library's side ---------------------------------------------------------------------------------------

PROBE = '''
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include "bootstrap/bootstrap.h"
using namespace lanyard;
static void show(const char *what, Error error, const std::string &otherwise) {
    std::printf("%s: %s\\n", what, error ? error.take().sentence.c_str() : otherwise.c_str());
}
int main(int count, char **words) {
    std::string wish = count > 1 ? words[1] : "";
    Error error;
    auto bootstrap = connect_bootstrap(error);
    if (!bootstrap) {
        std::printf("%s\\n", error.take().sentence.c_str());
        return 3;
    }
    const auto &own = bootstrap->identity();
    if (wish == "abort") {
        if (own.rank == 1) bootstrap->abort(5, "my reason", true);
        pause();
    }
    std::string value;
    std::string line = std::to_string(own.rank) + "/" + std::to_string(own.size) + " " +
                       std::to_string(own.local_rank) + "/" + std::to_string(own.local_size) + " nodes " +
                       std::to_string(own.node_of_rank.size()) + " by " + own.launcher +
                       " segment " + (own.segment_fd >= 0 ? "yes" : "no") +
                       " job " + (own.job.empty() ? "unnamed" : own.job);
    std::puts(line.c_str());
    std::string rank = std::to_string(own.rank);
    show("put", bootstrap->put("key" + rank, "value-" + rank), "done");
    show("barrier", bootstrap->barrier(), "passed");
    Error got = bootstrap->get("key" + std::to_string((own.rank + 1) % own.size), value);
    show("get", got, value);
    show("absent", bootstrap->get("absent", value), value);
    show("long", bootstrap->put("long", std::string(100000, 'x')), "taken");
    show("space", bootstrap->put("word", "two words"), "taken");
    show("finalize", bootstrap->finalize(), "done");
    return std::system("test -z \\"$PMI_FD\\" || ! test -e /proc/self/fd/$PMI_FD") == 0 ? 0 : 4;
}
'''


@pytest.fixture
def probe(built):
    names = "bootstrap/bootstrap.cc", "bootstrap/origin.cc", "bootstrap/pmi_client.cc", "base/error.cc"
    sources = [ROOT / "src" / name for name in names]
    return built("probe", PROBE, "g++", "-std=c++20", "-I", ROOT / "src", *sources, suffix=".cc")


def check_probe(out, size, launcher, segment):
    for rank in range(size):
        pattern = rf"{rank}/{size} {rank}/{size} nodes {size} by {launcher} segment {segment} job \S+\n"
        assert re.search(pattern, out), out
        assert f"get: value-{rank}\n" in out
    assert out.count("put: done\n") == out.count("barrier: passed\n") == out.count("finalize: done\n") == size
    assert out.count("cannot be published: the launcher takes") == 2 * size
    assert out.count('"absent"') == size


def test_client_under_mpirun(mpirun, probe):
    code, out, err = mpirun.run("-n", 4, probe)
    assert (code, err) == (0, "")
    check_probe(out, 4, "mpirun", "yes")


def test_client_under_hydra(mpirun, probe, mpich):
    code, out, err = mpirun.run("-n", 3, probe, launcher=mpich / "bin" / "mpiexec.hydra")
    assert (code, err) == (0, "")
    check_probe(out, 3, "PMI-1", "no")


def test_client_under_hydra_within_mpirun_does_not_take_the_outer_job(mpirun, probe, mpich):
    code, out, err = mpirun.run("-n", 1, mpich / "bin" / "mpiexec.hydra", "-n", 2, probe)
    assert (code, err) == (0, "")
    check_probe(out, 2, "PMI-1", "no")


def test_client_aborts(mpirun, probe):
    code, out, err = mpirun.run("-n", 3, probe, "abort")
    assert (code, out) == (5, "")
    assert err.splitlines()[0] == "my reason"
    assert re.match(r"mpirun: rank 1 \(.*probe, on .*\) ended the job with MPI_Abort, code 5$",
                    err.splitlines()[1])


def alone(mpirun, probe, **variables):
    environment = mpirun.environment(variables)
    done = subprocess.run([probe], env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.mark.parametrize("variables", [{}, {"PMI_SIZE": 1, "PMI_RANK": 0, "PMI_FD": 99},
                                       {"SLURM_NTASKS": 1, "SLURM_PROCID": 0},
                                       {"OMPI_COMM_WORLD_SIZE": 1, "OMPI_COMM_WORLD_RANK": 0, "PMIX_RANK": 0,
                                        "PMIX_NAMESPACE": "x"}],
                         ids=lambda value: " ".join(value) or "nothing set")
def test_singleton(mpirun, probe, variables):
    code, out = alone(mpirun, probe, **variables)
    assert code in (0, 4)
    assert re.match(r"0/1 0/1 nodes 1 by none segment no job [0-9a-f]{32}\n", out)
    assert "get: value-0\n" in out


FOREIGN = [
    ({"SLURM_NTASKS": 4}, "started by Slurm as one of several (SLURM_NTASKS=4)", "env -u SLURM_NTASKS"),
    ({"SLURM_NTASKS": 4, "SLURM_STEP_NUM_TASKS": 4, "SLURM_PROCID": 1}, "started by Slurm (srun)",
     "env -u SLURM_STEP_NUM_TASKS -u SLURM_NTASKS"),
    ({"OMPI_COMM_WORLD_SIZE": 2}, "started by Open MPI's mpirun as one of several (OMPI_COMM_WORLD_SIZE=2)",
     "mpirun -n N PROGRAM"),
    ({"PMIX_RANK": 0}, "started by a PMIx launcher as part of a job (PMIX_RANK=0), but it cannot join it",
     "env -u PMIX_RANK"),
    ({"PMIX_NAMESPACE": "job1"}, "PMIX_NAMESPACE=job1", "env -u PMIX_NAMESPACE"),
    ({"PMI_RANK": 1}, "PMI_FD, the connection to the launcher, is not set", "env -u PMI_RANK"),
    ({"PMI_RANK": 1, "PMI_SIZE": 4, "PMI_FD": 99}, "the descriptor PMI_FD=99 is no open socket",
     "env -u PMI_SIZE -u PMI_FD -u PMI_RANK"),
    ({"PMI_FD": 77},
     "as part of a job (PMI_FD=77), but it cannot join it: the descriptor PMI_FD=77 is no open socket",
     "env -u PMI_FD"),
    ({"PMI_FD": "x"}, "the descriptor PMI_FD=x is no open socket", "env -u PMI_FD"),
    ({"PMI_PORT": "host:4000", "PMI_ID": 0},
     "as part of a job (PMI_PORT=host:4000), but it cannot join it: PMI_FD, the connection to the launcher, "
     "is not set, and the address PMI_PORT is not used",
     "or with mpiexec.hydra without -pmi-port; to run it alone on purpose, start it with env -u PMI_PORT -u "
     "PMI_ID"),
    ({"PMI_ID": 0}, "PMI_FD, the connection to the launcher, is not set", "env -u PMI_ID"),
]


@pytest.mark.parametrize(("variables", "seen", "remedy"), FOREIGN,
                         ids=lambda value: " ".join(value) if isinstance(value, dict) else None)
def test_singleton_in_the_job_of_another_launcher_stops(mpirun, probe, variables, seen, remedy):
    code, out = alone(mpirun, probe, **variables)
    assert code == 3
    first, second = out.splitlines()
    assert seen in first and "it cannot join " in first and "running as rank 0 of 1 would be wrong" in first
    assert second.startswith("what to do: ") and remedy in second


def test_launcher_that_dies_is_reported(mpirun, probe):
    """The launcher's end of the socket is closed. The library must report an error. It must not wait for
    ever, and must not raise SIGPIPE."""
    code = f"""
import os, socket, subprocess
ours, theirs = socket.socketpair()
theirs.set_inheritable(True)
ours.close()
variables = {{"PMI_FD": str(theirs.fileno()), "PMI_RANK": "0", "PMI_SIZE": "2"}}
done = subprocess.run(["{probe}"], env={{**os.environ, **variables}}, close_fds=False)
print(done.returncode)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          check=True, env=mpirun.environment({}))
    assert "rank 0 lost its launcher" in done.stdout
    assert done.stdout.splitlines()[-1] == "3"
