"""Tests jobs on several hosts, started through a replacement for ssh (remote_shell). All hosts are this
machine, entered as by a login. The fixture `mpirun` (conftest.py) checks after every test that nothing is
left."""
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from .test_streams import whole_lines


def ready(mpirun, process, lines):
    mpirun.read_until(process.stdout, lambda text: text.count(b"ready\n") >= lines)


def finish(process):
    out, err = process.communicate(timeout=60)
    return process.returncode, out.decode(), err.decode()


def test_every_rank_knows_its_place(hosts):
    show = ("echo $PMI_RANK/$PMI_SIZE $MPI_LOCALRANKID/$MPI_LOCALNRANKS $LANYARD_RANK/$LANYARD_SIZE "
            "$LANYARD_LOCAL_RANK/$LANYARD_LOCAL_SIZE $HOSTNAME")
    code, out, err = hosts("a:2,b,c:2", "-n", 6, "sh", "-c", show)
    assert (code, err) == (0, "")
    places = [("a", 0, 3), ("a", 1, 3), ("b", 0, 1), ("c", 0, 2), ("c", 1, 2), ("a", 2, 3)]
    assert sorted(out.splitlines()) == [f"{rank}/6 {at}/{of} {rank}/6 {at}/{of} {host}"
                                        for rank, (host, at, of) in enumerate(places)]


@pytest.mark.parametrize(("options", "expected"), [
    (["-f"], "aabccc"), (["--map-by", "node", "-hostfile"], "abcacc"), (["-rr", "--hostfile"], "abcacc"),
    (["-ppn", "1", "-machinefile"], "abcabc"),
    (["-perhost", "2", "-f"], "aabbcc"), (["--map-by=ppr:2:node", "-f"], "aabbcc"),
], ids=str)
def test_host_files_and_mappings(mpirun, options, expected):
    (mpirun.folder / "my hosts").write_text("# three\na:2\n\nb\nc slots=3 max_slots=4  # the big one\n")
    code, out, err = mpirun.run("--ssh", mpirun.remote_shell, *options, "my hosts", "-n", 6, "-l", "sh", "-c",
                                "echo $HOSTNAME")
    assert (code, err) == (0, "")
    assert sorted(out.splitlines()) == [f"[{rank}] {host}" for rank, host in enumerate(expected)]


def test_wrong_line_of_a_host_file_is_named(mpirun):
    (mpirun.folder / "hosts.txt").write_text("a\n\nb slots=x\n")
    assert mpirun.run("-f", "hosts.txt", "true") == (2, "", "mpirun: hosts.txt:3: slots=x is not a number\n")


@pytest.mark.parametrize("options", [["-ppn", "3"], ["--map-by", "ppr:3:node"]], ids=str)
def test_so_many_on_this_host_where_none_is_named(mpirun, options):
    assert mpirun.run(*options, "echo", "here") == (0, "here\n" * 3, "")


@pytest.mark.parametrize("options", [["-ppn", "2"], ["-N", "2"], ["--map-by", "ppr:2:node"]], ids=str)
def test_ranks_per_host_alone_fill_all_hosts(hosts, options):
    assert hosts("a,b,c", *options, "echo", "x") == (0, "x\n" * 6, "")


def test_this_machine_among_others_needs_no_shell(hosts):
    own = os.uname().nodename
    code, out, err = hosts(f"a,localhost,{own}", "-n", 3, "sh", "-c",
                           "echo $PMI_RANK ${ONLY_THERE-here} $LANYARD_LOCAL_SIZE")
    assert (code, err) == (0, "")
    assert sorted(out.splitlines()) == ["0 a 1", "1 here 2", "2 here 2"]


def test_a_job_of_this_machine_alone_is_started_without_one(mpirun):
    assert mpirun.run("--ssh", "/nonexistent", "--host", "localhost:2,127.0.0.1", "-n", 4, "echo",
                      "x") == (0, "x\n" * 4, "")


def test_hosts_start_hosts(mpirun, hosts):
    """There are seven hosts, and each process may start two hosts. So mpirun must have two remote shells, and
    the agents must have the others."""
    process = hosts.start("a,b,c,d,e,f,g", "--fan-out", 2, "-n", 7, "sh", "-c", "echo ready; exec sleep 1000")
    ready(mpirun, process, 7)
    assert len(mpirun.agents()) == 7
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert len(children) == 2
    process.send_signal(signal.SIGTERM)
    assert finish(process) == (143, "", "")


def test_many_hosts(mpirun, hosts):
    names = ",".join(f"h{i}" for i in range(20))
    code, out, err = hosts(names, "-n", 40, "-l", "sh", "-c", "echo $HOSTNAME")
    assert (code, err) == (0, "")
    assert sorted(out.splitlines()) == sorted(f"[{rank}] h{rank % 20}" for rank in range(40))


def test_environment(hosts):
    """Ranks get the variables of their host and those of mpirun. If both have a variable, the value of mpirun
    is used, except for variables that name a host."""
    show = "echo $A $B $C $ONLY_THERE $HOSTNAME ${PMI_JUNK-unset}"
    code, out, err = hosts("a,b", "-genv", "B", "1", "-n", 1, "-x", "C=x y", "sh", "-c", show, ":", "-n", 1,
                           "sh", "-c", show,
                           env={"A": "mine", "HOSTNAME": "launcher", "PMI_JUNK": "1", "ONLY_HERE": "1"})
    assert (code, err) == (0, "")
    assert sorted(out.splitlines()) == ["mine 1 b b unset", "mine 1 x y a a unset"]


def test_words_reach_the_program_unchanged(hosts):
    words = ["a b", "it's", '"', "$HOME", "*", "", "new\nline", "\\", "ü", ";", "-n"]
    show = "import sys; print(repr(sys.argv[1:]))"
    assert hosts("a", "-n", 1, "python3", "-c", show, *words) == (0, repr(words) + "\n", "")


def test_folder_and_file_mode(mpirun, hosts):
    (mpirun.folder / "sub").mkdir()
    command = 'pwd; touch "file.$PMI_RANK"'
    code, out, err = hosts("a,b", "-n", 1, "sh", "-c", command, ":", "-n", 1, "-wdir", "sub", "sh", "-c",
                           command, preexec_fn=lambda: os.umask(0o27))
    assert (code, err) == (0, "")
    assert sorted(out.splitlines()) == [str(mpirun.folder), str(mpirun.folder / "sub")]
    assert (mpirun.folder / "sub" / "file.1").stat().st_mode & 0o777 == 0o640


def test_output_is_passed_on_byte_for_byte(mpirun, hosts):
    data = os.urandom(3_000_000)
    (mpirun.folder / "data").write_bytes(data)
    assert hosts("a", "cat", "data", text=False) == (0, data, b"")
    assert hosts("a,b", "-n", 2, "printf", r"a\0b", text=False) == (0, b"a\0ba\0b", b"")


WRITER = """
import os
rank = os.environ["PMI_RANK"]
for i in range(1000):
    os.write(1, f"{rank} {i} ".encode())
    os.write(1, b"x" * 100)
    os.write(1, b" end" + bytes([10]))
"""


@pytest.mark.parametrize("names", ["a:2,b:2", "a,localhost,b"])
def test_lines_of_ranks_do_not_mix(mpirun, hosts, names):
    code, out, err = hosts(names, "-n", 4, "-l", *mpirun.python(WRITER))
    assert (code, err) == (0, "")
    seen = {rank: [] for rank in range(4)}
    for line in out.splitlines():
        match = re.fullmatch(r"\[(\d)\] (\d) (\d+) x{100} end", line)
        assert match and match[1] == match[2], line
        seen[int(match[1])].append(int(match[3]))
    assert all(numbers == list(range(1000)) for numbers in seen.values())


def test_tagged_lines_of_both_streams(hosts):
    code, out, err = hosts("a,b", "-l", "-n", 3, "sh", "-c", 'echo one; echo bad >&2; printf "no end"')
    assert code == 0
    assert sorted(out.splitlines()) == sorted(f"[{rank}] {text}" for rank in range(3)
                                              for text in ("one", "no end"))
    assert sorted(err.splitlines()) == [f"[{rank}] bad" for rank in range(3)]


def test_files_of_output_are_written_where_mpirun_runs(mpirun, hosts):
    assert hosts("a,localhost,b", "--output", "logs", "-n", 3, "sh", "-c",
                 "echo out $PMI_RANK; echo err $PMI_RANK >&2") == (0, "", "")
    for rank in range(3):
        assert (mpirun.folder / "logs" / f"rank-{rank}.out").read_text() == f"out {rank}\nerr {rank}\n"
    assert hosts("a,b", "-outfile-pattern", "o.%h.%r", "-n", 2, "sh", "-c",
                 "echo out; echo err >&2") == (0, "", "err\nerr\n")
    assert [(mpirun.folder / name).read_text() for name in ("o.a.0", "o.b.1")] == ["out\n"] * 2
    code, _, err = hosts("a", "-outfile-pattern", "/nonexistent/%r", "sh", "-c", "echo x; sleep 1000")
    assert code == 1
    assert err == ("mpirun: what rank 0 prints cannot be written to /nonexistent/0: No such file or "
                   "directory\n")


def test_slow_reader_stops_the_ranks_not_the_agents(mpirun, hosts):
    process = hosts.start("a,b", "-n", 2, "yes")
    mpirun.wait_until(lambda: len(mpirun.agents()) == 2, "the agents run")
    time.sleep(1)
    limit = 50_000 if mpirun.build.name == "release" else 500_000
    for pid in (process.pid, *mpirun.agents()):
        assert int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) < limit
    process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 143


def test_reader_that_leaves_ends_the_job_quietly(mpirun):
    command = (f"{mpirun.path} --ssh {mpirun.remote_shell} --host a,b -n 2 yes | head -n 1; echo "
               f"${{PIPESTATUS[0]}}")
    assert mpirun.run("-c", command, launcher="/bin/bash") == (0, "y\n141\n", "")


def test_reader_that_leaves_does_not_concern_files(mpirun, hosts):
    """mpirun prints a note about -x, but nobody reads it. Ranks that write into files must go on.

    Each line waits until its file has the one before: grep is silent (-s) while there is no file, as its
    complaint would be a line of the file.
    """
    reader, writer = os.pipe()
    os.close(reader)
    command = ("await() { until grep -qs $1 logs/rank-$PMI_RANK.out; do sleep 0.01; done; }; "
               "echo one; await one; sleep 0.2; echo two; await two; echo three >&2")
    process = hosts.start("a,b", "--output", "logs", "-x", "NOT_SET", "-n", 2, "sh", "-c", command,
                          stdout=writer, stderr=writer)
    os.close(writer)
    assert process.wait(timeout=60) == 0
    for rank in range(2):
        assert (mpirun.folder / "logs" / f"rank-{rank}.out").read_text() == "one\ntwo\nthree\n"


DIGEST = "import hashlib, sys; print(hashlib.md5(sys.stdin.buffer.read()).hexdigest())"


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_input_reaches_one_rank_byte_for_byte(mpirun, hosts, rank, kind):
    data = os.urandom(3_000_000)
    (mpirun.folder / "data").write_bytes(data)
    command = ["--stdin", rank, "-n", 3, "-l", *mpirun.python(DIGEST)]
    if kind == "pipe":
        code, out, err = hosts("a,b,localhost", *command, input=data, text=False)
        out, err = out.decode(), err.decode()
    else:
        with open(mpirun.folder / "data", "rb") as file:
            code, out, err = hosts("a,b,localhost", *command, stdin=file)
    assert (code, err) == (0, "")
    nothing = hashlib.md5(b"").hexdigest()
    assert sorted(out.splitlines()) == [f"[{i}] {hashlib.md5(data).hexdigest() if i == rank else nothing}"
                                        for i in range(3)]


def test_input_that_is_not_read(mpirun, hosts):
    """A rank closes its input and ends. The job must end too, even if input for this rank is left."""
    process = hosts.start("a", "sh", "-c", "exec <&-; echo ready; sleep 0.3", stdin=subprocess.PIPE)
    ready(mpirun, process, 1)
    with pytest.raises(BrokenPipeError):
        for _ in range(100):
            process.stdin.write(b"x" * 100_000)
            process.stdin.flush()
            if process.poll() is not None:
                raise BrokenPipeError
    process.stdin = None
    assert finish(process)[0] == 0


def test_time_limit_and_waits_of_all_hosts(mpirun, hosts):
    lines = [
        "  rank 0: has called MPI_Init; what it waits for is not known, because its library does not report "
        "it",
        "  rank 1: waits in MPI_Init for rank 0, which has begun it"]
    program = mpirun.pmi_client("init(); rank and ask('cmd=barrier_in'); time.sleep(1000)")
    words = ("--ssh", mpirun.remote_shell, "--host", "a,b", "-n", 2, *program)
    code, _, err = mpirun.run_out(0.5, lambda err: err.splitlines()[1:] == lines, *words)
    assert (code, err.splitlines()[1:]) == (124, lines)


def test_waits_on_request_name_the_host_that_does_not_answer(mpirun, hosts):
    process = hosts.start("a,b", "-n", 2,
                          *mpirun.pmi_client("init(); print('ready', flush=True); time.sleep(1000)"))
    ready(mpirun, process, 2)
    stopped = mpirun.agent_of("b")
    os.kill(stopped, signal.SIGSTOP)
    process.send_signal(signal.SIGQUIT)
    text = mpirun.read_until(process.stderr, lambda text: text.count(b"\n") == 3).decode()
    os.kill(stopped, signal.SIGCONT)
    assert "  rank 0: has called MPI_Init" in text and "  rank 1: its host b has not answered\n" in text
    process.send_signal(signal.SIGTERM)
    # The answer that comes after the report makes no second report.
    assert finish(process) == (143, "", "")


def test_host_file_from_windows(mpirun):
    """The file has a byte-order mark, lines that end with CRLF, and spaces around '='."""
    (mpirun.folder / "hosts").write_bytes(b"\xef\xbb\xbf# hosts\r\na slots = 2\r\nb slots= 1\r\n")
    show = "sh", "-c", "echo $LANYARD_RANK $HOSTNAME"
    code, out, err = mpirun.run("--ssh", mpirun.remote_shell, "-f", "hosts", "-n", 3, *show)
    assert (code, sorted(out.splitlines()), err) == (0, ["0 a", "1 a", "2 b"], "")


def test_long_lines_of_several_hosts_do_not_mix(hosts):
    program = "python3", "-c", "import os; print(os.environ['PMI_RANK'] * 2_000_000)"
    code, out, err = hosts("a,b", "-n", 2, *program)
    assert (code, err) == (0, "")
    assert whole_lines(out) == {rank: {rank * 2_000_000: 1} for rank in "01"}
