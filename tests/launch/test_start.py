"""Tests what a rank finds when it starts: program, environment, folder, standard input, binding. bench/run
measures how fast a job starts."""
import hashlib
import json
import os
import re
import shutil
import signal

import pytest

ASSIGNED = "echo ${A-unset} ${B-unset}"


def test_missing_program(mpirun):
    code, out, err = mpirun.run("-n", 2, "no-such-program", env={"PATH": "/usr/bin:/bin"})
    assert (code, out) == (127, "")
    assert err == ("mpirun: rank 0: the program no-such-program was not found in the folders of PATH; "
                   "write where it is, as in ./no-such-program, or add its folder to PATH\n")


def test_missing_program_of_a_later_rank_starts_nothing(mpirun):
    code, out, err = mpirun.run("-n", 2, "echo", "x", ":", "-n", 1, "./absent")
    assert (code, out) == (127, "")
    assert err == ("mpirun: rank 2: the program ./absent cannot be started: No such file or directory in "
                   f"{mpirun.folder}\n")


def test_missing_program_in_a_folder_of_its_own(mpirun):
    (mpirun.folder / "inner").mkdir()
    for named in ("inner", mpirun.folder / "inner"):
        _, _, err = mpirun.run("-n", 1, "-wdir", named, "./absent")
        assert err == ("mpirun: rank 0: the program ./absent cannot be started: No such file or directory "
                       f"in {mpirun.folder}/inner\n")
    _, _, err = mpirun.run("-n", 1, "/no/such/program")
    assert err == ("mpirun: rank 0: the program /no/such/program cannot be started: No such file or "
                   "directory\n")


def test_program_in_this_folder_is_pointed_out(mpirun):
    shutil.copy("/bin/true", mpirun.folder / "mine")
    code, _, err = mpirun.run("mine")
    assert code == 127
    assert "write ./mine" in err


def test_program_that_is_not_executable(mpirun):
    (mpirun.folder / "text").write_text("echo no\n")
    code, out, err = mpirun.run("-n", 2, "./text")
    assert (code, out) == (126, "")
    assert "rank 0" in err and "./text is not executable" in err and "chmod +x" in err
    (mpirun.folder / "hello.c").write_text("int main(void) { return 0; }")
    code, _, err = mpirun.run("-n", 2, "./hello.c")
    assert code == 126 and "it looks like a source: compile it with mpicc" in err


def test_program_that_is_a_folder(mpirun):
    code, _, err = mpirun.run("/tmp")
    assert code == 126
    assert "it is a folder" in err


def test_program_of_another_machine(mpirun):
    program = mpirun.folder / "strange"
    program.write_bytes(b"\x7fELF" + bytes(60))
    program.chmod(0o755)
    code, _, err = mpirun.run("-n", 2, "./strange")
    assert code == 126
    assert "rank 0 (./strange" in err and "it is no program for this machine" in err


def test_script_with_a_missing_interpreter(mpirun):
    program = mpirun.folder / "script"
    program.write_text("#!/nonexistent/interpreter\n")
    program.chmod(0o755)
    code, _, err = mpirun.run("./script")
    assert code == 126
    assert "the interpreter or loader it names in its first bytes is missing" in err


@pytest.mark.parametrize("folder", [[], ["-wdir", "/"]], ids=["here", "elsewhere"])
def test_script_from_windows(mpirun, folder):
    program = mpirun.folder / "script"
    program.write_bytes(b"#!/bin/sh\r\necho never\r\n")
    program.chmod(0o755)
    code, out, err = mpirun.run(*folder, program)
    assert (code, out) == (126, "")
    assert ("its first line ends with CRLF, as in files from Windows, and no interpreter has such a name; "
            "sed -i 's/\\r$//'") in err


def test_script_without_an_interpreter_is_run_by_sh(mpirun):
    program = mpirun.folder / "script"
    program.write_text('echo "$0 $1 $#"\n')
    program.chmod(0o755)
    assert mpirun.run("./script", "a b", "c") == (0, "./script a b 2\n", "")


def test_program_is_searched_in_the_path_given_to_the_ranks(mpirun):
    folder = mpirun.folder / "programs"
    folder.mkdir()
    shutil.copy("/bin/echo", folder / "special-echo")
    assert mpirun.run("-x", f"PATH={folder}", "special-echo", "found") == (0, "found\n", "")


@pytest.mark.parametrize(("options", "expected"), [
    (["-x", "A=1", "-x", "B=x=y"], "1 x=y"),
    (["-genv", "A", "1", "-genv", "B=2"], "1 2"),
    (["-env", "A", "1"], "1 unset"),
    (["-x", "A"], "outer unset"),
    (["-x", "A,B=3"], None),
    (["-genv", "A", "general", "-env", "A", "own"], "own unset"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else None)
def test_variables(mpirun, options, expected):
    code, out, err = mpirun.run(*options, "sh", "-c", ASSIGNED,
                                env={"A": "outer"} if options == ["-x", "A"] else {})
    if expected is None:  # "A,B=3" sets one variable, whose name is "A,B"
        assert code == 0 and err == ""
    else:
        assert (code, out, err) == (0, expected + "\n", "")


def test_variables_of_several_programs(mpirun):
    """-x and -env apply to the program they precede. -genv applies to all programs, including those before
    it."""
    arguments = ["-x", "A=first", "sh", "-c", ASSIGNED, ":", "sh", "-c", ASSIGNED, ":", "-x", "A=third",
                 "-genv", "B", "all", "sh", "-c", ASSIGNED]
    code, out, err = mpirun.run(*arguments)
    assert (code, sorted(out.splitlines()), err) == (0, ["first all", "third all", "unset all"], "")
    code, out, _ = mpirun.run("-env", "A", "first", "sh", "-c", ASSIGNED, ":", "sh", "-c", ASSIGNED)
    assert sorted(out.splitlines()) == ["first unset", "unset unset"]


@pytest.mark.parametrize("spelled", [["-genv", "A", "1"], ["--genv", "A", "1"], ["-genv", "A=1"],
                                     ["--genv=A=1"]], ids=" ".join)
def test_variable_of_all_programs(mpirun, spelled):
    code, out, err = mpirun.run("sh", "-c", ASSIGNED, ":", *spelled, "sh", "-c", ASSIGNED)
    assert (code, out, err) == (0, "1 unset\n" * 2, "")


def test_folder(mpirun):
    (mpirun.folder / "sub").mkdir()
    code, out, _ = mpirun.run("-wdir", "sub", "-n", 2, "pwd")
    assert (code, out) == (0, f"{mpirun.folder}/sub\n" * 2)
    shutil.copy("/bin/echo", mpirun.folder / "sub" / "own-echo")
    assert mpirun.run("--wdir", "sub", "./own-echo", "x") == (0, "x\n", "")


def test_variable_that_is_not_set_is_told_and_the_job_runs(mpirun):
    """-x names a variable that is not set. The job must run, with a note. Open MPI also runs such jobs,
    because its users list variables that some machines do not have."""
    note = "mpirun: -x B: B is not set, here or for the ranks; -x B=VALUE would set it\n"
    for options in (["-x", "B"], ["-x", "A,B"], ["-x=B", "-x", "A=outer"]):
        code, out, err = mpirun.run("-n", 2, *options, "sh", "-c", ASSIGNED, env={"A": "outer"})
        assert (code, out, err) == (0, "outer unset\n" * 2, note)
    code, out, err = mpirun.run("-x", "B", "sh", "-c", ASSIGNED, ":", "-x", "B", "sh", "-c", ASSIGNED)
    assert (code, out, err) == (0, "unset unset\n" * 2, note)  # one note for all programs
    code, out, err = mpirun.run("-x", "B", "-genv", "B", "all", "sh", "-c", ASSIGNED)
    assert (code, out) == (0, "unset all\n")


def test_folder_of_several_programs(mpirun):
    """-wdir applies to the program it precedes; the next program starts in mpirun's own folder."""
    code, out, err = mpirun.run("-l", "-n", 1, "-wdir", "/usr", "pwd", ":", "-n", 1, "pwd", ":", "-n", 1,
                                "--wdir=/etc", "pwd")
    assert (code, sorted(out.splitlines()), err) == (0, ["[0] /usr", f"[1] {mpirun.folder}", "[2] /etc"], "")


OUTER = {"PMI_FD": 99, "PMI_RANK": 7, "PMI_SIZE": 9, "PMI_PORT": "x", "PMIX_RANK": 3, "PMIX_NAMESPACE": "n",
         "OMPI_COMM_WORLD_SIZE": 5, "OMPI_MCA_x": 1, "MPI_LOCALRANKID": 7, "LANYARD_JOB": "outer",
         "LANYARD_SEGMENT_FD": 77, "LANYARD_RANK": 7}


def test_an_outer_job_is_not_visible(mpirun):
    code, out, _ = mpirun.run("-n", 1, *mpirun.python("import os, json; print(json.dumps(dict(os.environ)))"),
                              env=OUTER)
    assert code == 0
    seen = json.loads(out)
    assert not {"PMI_PORT", "PMIX_RANK", "PMIX_NAMESPACE", "OMPI_MCA_x"} & set(seen)
    assert (seen["PMI_RANK"], seen["PMI_SIZE"], seen["LANYARD_RANK"],
            seen["MPI_LOCALRANKID"]) == ("0", "1", "0", "0")
    assert (seen["OMPI_COMM_WORLD_RANK"], seen["OMPI_COMM_WORLD_SIZE"]) == ("0", "1")
    assert seen["LANYARD_JOB"] != "outer" and len(seen["LANYARD_JOB"]) == 32


def test_jobs_have_different_names_and_ranks_of_a_job_the_same(mpirun):
    first = mpirun.run("-n", 3, "sh", "-c", "echo $LANYARD_JOB")[1].split()
    second = mpirun.run("-n", 3, "sh", "-c", "echo $LANYARD_JOB")[1].split()
    assert len(set(first)) == 1 and len(set(second)) == 1 and first[0] != second[0]


def test_nested_jobs(mpirun):
    code, out, err = mpirun.run("-n", 2, mpirun.path, "-n", 2, "sh", "-c", "echo $PMI_RANK/$PMI_SIZE")
    assert (code, sorted(out.splitlines()), err) == (0, ["0/2", "0/2", "1/2", "1/2"], "")


SEGMENT = """
import os, stat
fd = int(os.environ["LANYARD_SEGMENT_FD"])
about = os.fstat(fd)
folder = os.readlink(f"/proc/self/fd/{fd}").rpartition("/")[0]
print(about.st_ino, about.st_nlink, folder, oct(about.st_mode & 0o777), os.get_inheritable(fd))
"""


def test_segment_is_one_file_without_a_name(mpirun):
    code, out, _ = mpirun.run("-n", 3, *mpirun.python(SEGMENT))
    lines = out.splitlines()
    assert code == 0 and len(lines) == 3 and len(set(lines)) == 1
    inode, links, folder, mode, _ = lines[0].split()
    assert (links, folder, mode) == ("0", "/dev/shm", "0o600")


def test_segment_in_a_chosen_folder(mpirun):
    # The test's folder may be on a file system without unnamed files; /dev/shm supports them.
    code, out, _ = mpirun.run("-n", 1, *mpirun.python(SEGMENT), env={"LANYARD_SHM_DIR": "/dev/shm/."})
    assert code == 0 and "/dev/shm" in out


def test_segment_without_a_folder_is_a_memory_file(mpirun):
    code, out, err = mpirun.run("-n", 2, "sh", "-c", "readlink /proc/self/fd/$LANYARD_SEGMENT_FD",
                                env={"LANYARD_SHM_DIR": "/proc"})
    assert (code, out) == (0, "/memfd:lanyard (deleted)\n" * 2)
    assert re.fullmatch(
        r"mpirun: /proc cannot be used for the memory that ranks share: .+; a memory file is used instead\n",
        err), err
    alone = mpirun.run("-n", 1, "true", env={"LANYARD_SHM_DIR": "/proc"})
    apart = mpirun.run("-n", 2, "true", env={"LANYARD_SHM_DIR": "/proc", "LANYARD_PATHS": "self,tcp"})
    assert alone == apart == (0, "", ""), "nobody shares memory, so nobody need know"


DESCRIPTORS = """
import os
own = {int(os.environ["PMI_FD"]), int(os.environ["LANYARD_SEGMENT_FD"])}
print(sorted(fd for fd in map(int, os.listdir("/proc/self/fd"))
             if fd > 2 and fd not in own and os.path.exists(f"/proc/self/fd/{fd}")))
"""


def test_ranks_inherit_no_other_descriptors(mpirun):
    assert mpirun.run("-n", 3, *mpirun.python(DESCRIPTORS)) == (0, "[]\n" * 3, "")


def test_ranks_have_the_signals_that_mpirun_was_started_with(mpirun):
    def masks(text):
        own = 0b11 << 32 - 1  # the C library reserves signals 32 and 33; no program can set them
        return {name: int(value, 16) & ~own
                for name, value in re.findall(r"^(SigBlk|SigIgn):\s*(\w+)", text, re.M)}

    def ignore():  # as a shell does for background jobs, whose users rely on it
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGQUIT, signal.SIG_IGN)

    command = ["sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status"]
    for prepare in (None, ignore):
        _, direct, _ = mpirun.run(*command[1:], launcher="/bin/sh", preexec_fn=prepare)
        code, out, _ = mpirun.run("-n", 1, *command, preexec_fn=prepare)
        assert code == 0
        assert masks(out) == masks(direct)
        assert bool(masks(out)["SigIgn"] & 1 << signal.SIGINT - 1) == bool(prepare)



def test_standard_input_goes_to_rank_0_alone_byte_for_byte(mpirun):
    data = os.urandom(3_000_000)
    code, out, err = mpirun.run("-n", 3, *mpirun.python("""
import os, sys, hashlib
data = sys.stdin.buffer.read()
print(os.environ["PMI_RANK"], len(data), hashlib.sha256(data).hexdigest())"""), input=data, text=False)
    assert (code, err) == (0, b"")
    empty = hashlib.sha256(b"").hexdigest()
    assert sorted(out.decode().splitlines()) == [f"0 3000000 {hashlib.sha256(data).hexdigest()}",
                                                 f"1 0 {empty}", f"2 0 {empty}"]


def test_standard_input_of_a_file_is_the_file(mpirun):
    (mpirun.folder / "data").write_bytes(b"one\ntwo\nthree\n")
    with open(mpirun.folder / "data", "rb") as file:
        assert mpirun.run("-n", 2, "head", "-n", 1, stdin=file)[:2] == (0, "one\n")


def test_unread_input_stays_for_the_next_command(mpirun):
    loop = f"printf 'a\\nb\\nc\\n' | while read line; do echo got $line; {mpirun.path} -n 2 true; done"
    assert mpirun.run("-c", loop, launcher="/bin/sh") == (0, "got a\ngot b\ngot c\n", "")


@pytest.mark.parametrize(("choice", "reader"), [("2", "2"), ("none", None)])
def test_standard_input_of_a_chosen_rank(mpirun, choice, reader):
    code, out, _ = mpirun.run("--stdin", choice, "-n", 3, "sh", "-c", 'echo "$PMI_RANK:$(cat)"',
                              input="words")
    assert code == 0
    assert sorted(out.splitlines()) == [f"{rank}:{'words' if str(rank) == reader else ''}"
                                        for rank in range(3)]


def test_closed_standard_input(mpirun):
    code, out, err = mpirun.run("-c",
                                f"{mpirun.path} -n 2 sh -c 'wc -c; ls /proc/self/fd/0 >/dev/null && echo "
                                "open' <&-", launcher="/bin/sh")
    assert (code, sorted(out.split()), err) == (0, ["0", "0", "open", "open"], "")


def test_all_standard_descriptors_closed(mpirun):
    assert mpirun.run("-c", f"{mpirun.path} -n 2 echo x <&- >&- 2>&-", launcher="/bin/sh") == (0, "", "")


AFFINITY = "import os; print(len(os.sched_getaffinity(0)), min(os.sched_getaffinity(0)))"


def test_bind_to_none_leaves_all_processors(mpirun):
    allowed = len(os.sched_getaffinity(0))
    out = mpirun.run("--bind-to", "none", "-n", 2, *mpirun.python(AFFINITY))[1]
    assert [line.split()[0] for line in out.splitlines()] == [str(allowed)] * 2


def test_two_jobs_do_not_crowd_one_processor(mpirun):
    """By default mpirun must bind no rank to a single processor, so that the kernel can give two jobs
    different processors."""
    both = [mpirun.start("-n", 2, *mpirun.python(AFFINITY + "; import time; time.sleep(0.5)"), text=True)
            for _ in range(2)]
    allowed = len(os.sched_getaffinity(0))
    for process in both:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert all(int(line.split()[0]) >= min(2, allowed) for line in out.splitlines()), out


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor: nothing to bind apart")
def test_bind_to_core_gives_each_rank_its_own(mpirun):
    cores = set()
    for processor in os.sched_getaffinity(0):
        with open(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list",
                  encoding="ascii") as file:
            cores.add(file.read())
    code, out, err = mpirun.run("--bind-to", "core", "-n", len(cores), *mpirun.python(AFFINITY))
    assert (code, err) == (0, "")
    assert len(set(out.splitlines())) == len(cores)


def test_bind_to_core_with_too_many_ranks_runs_unbound(mpirun):
    ranks = len(os.sched_getaffinity(0)) + 1
    code, out, err = mpirun.run("--bind-to", "core", "-n", ranks, *mpirun.python(AFFINITY))
    assert code == 0
    assert "--bind-to core cannot be done" in err and "the ranks run unbound" in err
    assert len(set(out.splitlines())) == 1


def quota():
    """Whether a control group limits this process to less than its processors."""
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            return not file.read().startswith("max")
    except OSError:
        return False


@pytest.mark.skipif(len(os.sched_getaffinity(0)) > 16, reason="too many processors for two ranks on each")
@pytest.mark.skipif(quota(), reason="a quota does not say which processors the job may use")
def test_ranks_that_outnumber_processors_evenly_share_them_evenly(mpirun):
    """Left alone, the kernel lets most ranks share one processor while another is idle."""
    allowed = sorted(os.sched_getaffinity(0))
    code, out, err = mpirun.run("-n", 2 * len(allowed), *mpirun.python(AFFINITY))
    assert (code, err) == (0, "")
    assert sorted(out.splitlines()) == sorted(f"1 {processor}" for processor in allowed * 2)


@pytest.mark.parametrize("arguments, ranks_over", [(["--bind-to", "none"], 0), ([], 1)])
def test_ranks_that_cannot_share_evenly_or_must_not_be_bound_run_unbound(mpirun, arguments, ranks_over):
    allowed = sorted(os.sched_getaffinity(0))[:2]
    if len(allowed) < 2:
        pytest.skip("one processor: every number of ranks can share it evenly")
    listed = ",".join(map(str, allowed))
    code, out, err = mpirun.run("-c", listed, mpirun.path, *arguments, "-n", 4 + ranks_over,
                                *mpirun.python(AFFINITY), launcher="taskset")
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"2 {allowed[0]}"] * (4 + ranks_over)


def test_many_ranks_and_few_descriptors(mpirun):
    code, out, err = mpirun.run("-c", f"ulimit -Sn 64; exec {mpirun.path} -n 40 sh -c 'ulimit -Sn'",
                                launcher="/bin/sh")
    assert (code, out, err) == (0, "64\n" * 40, "")


def test_descriptors_that_do_not_suffice(mpirun):
    code, out, err = mpirun.run("-c", f"ulimit -n 64; exec {mpirun.path} -n 40 true", launcher="/bin/sh")
    assert (code, out) == (1, "")
    assert "cannot be opened: Too many open files; raise the limit of open files (ulimit -n)" in err


def test_library_of_this_build_is_found_first(mpirun):
    library = mpirun.build / "lib" / "libmpi_abi.so.1"
    show = ["sh", "-c", "echo ${LD_LIBRARY_PATH-unset}"]
    own = str(mpirun.build / "lib")
    assert library.exists(), "the library is not built"
    assert mpirun.run(*show)[1] == own + "\n"
    assert mpirun.run(*show, env={"LD_LIBRARY_PATH": "/somewhere:/else"})[1] == f"{own}:/somewhere:/else\n"


def test_library_that_the_user_names_comes_first(mpirun):
    """LD_LIBRARY_PATH names a user's folder with a library of one name. This folder must stay before
    Lanyard's folder, which supplies the libraries with the other names. If the user's folders have libraries
    of all names, Lanyard's folder must not be added."""
    show = ["sh", "-c", "echo ${LD_LIBRARY_PATH-unset}"]
    own = str(mpirun.build / "lib")
    other, third = mpirun.folder / "other", mpirun.folder / "third"
    for folder in (other, third):
        folder.mkdir()
    (other / "libmpi_abi.so.1").write_bytes(b"")
    assert mpirun.run(*show,
                      env={"LD_LIBRARY_PATH": f"/somewhere:{other}"})[1] == f"/somewhere:{other}:{own}\n"
    (third / "libmpich.so.12").write_bytes(b"")
    assert mpirun.run(*show, env={"LD_LIBRARY_PATH": f"{third}"})[1] == f"{third}:{own}\n"
    (third / "libmpi.so.12").write_bytes(b"")
    assert mpirun.run(*show, env={"LD_LIBRARY_PATH": f"{third}"})[1] == f"{third}:{own}\n"
    assert mpirun.run(
        *show, env={"LD_LIBRARY_PATH": f"{third}:/somewhere:{other}"})[1] == f"{third}:/somewhere:{other}\n"
    (third / "libmpich.so.12").unlink()
    (third / "libmpi.so.12").rename(third / "libmpi.so.40")
    (third / "libmpi.so").symlink_to("libmpi.so.40")
    assert mpirun.run(*show, env={"LD_LIBRARY_PATH": f"{third}"})[1] == f"{own}:{third}\n", (
        "Open MPI has another ABI")
