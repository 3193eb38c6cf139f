"""Tests jobs on a machine that refuses direct copies between processes, or that has no room for shared
memory."""
import os
import re
import subprocess
import sys

import pytest

LONG = "LANYARD_TEST_ALL" in os.environ
pytestmark = pytest.mark.own_paths("it is about direct copies and shared memory")


def refused(program):
    """The first words of a command line. With them the kernel refuses the command's attempts to read or write
    the memory of other processes."""
    return program("refused"), "process_vm_readv=EPERM,process_vm_writev=EPERM"


def seccomp_or_skip(program):
    if subprocess.run([*refused(program), "/bin/true"], capture_output=True, check=False).returncode == 96:
        pytest.skip("the kernel has no seccomp filters")


@pytest.mark.parametrize("ranks", [
    pytest.param(2, marks=pytest.mark.one_host("each rank is alone on its host")), 4,
])
def test_refused_direct_copies_are_replaced(mpirun, program, ranks):
    seccomp_or_skip(program)
    code, out, err = mpirun.run("-n", ranks, *refused(program), program("exchange"),
                                env={"LANYARD_LOG": "info"})
    assert (code, out) == (0, "right\n")
    assert re.search(r"direct copies from process \d+ are refused \(.*\)", err), err


def test_refused_to_one_side_only(mpirun, program):
    seccomp_or_skip(program)
    exchange = program("exchange")
    assert mpirun.run("-n", 1, *refused(program), exchange, ":", "-n", 2, exchange) == (0, "right\n", "")


def test_refused_from_some_time_on(mpirun, program):
    """The first copies succeed. A later copy fails in the middle of a message."""
    seccomp_or_skip(program)
    code, out, err = mpirun.run("-n", 3, program("exchange"), 1 << 22, "late", env={"LANYARD_LOG": "info"})
    assert (code, out) == (0, "right\n")
    assert "copying through shared buffers instead" in err


def test_direct_copies_where_they_are_allowed(mpirun, program):
    """Is the control for the tests above: without the filter, direct copies must work, unless the machine
    itself refuses them."""
    code, out, err = mpirun.run("-n", 2, program("exchange"), env={"LANYARD_LOG": "info"})
    assert (code, out) == (0, "right\n")
    if "are refused" in err:
        pytest.skip("this machine refuses process_vm_readv")


def direct_and_failed(mpirun, program, ranks, *words, env=None):
    """Runs `midway`, in which direct copies begin to fail in the middle of the job. Returns how many direct
    copies succeeded before that moment, and how many failed after it.

    Skips the test if no direct copy succeeded.
    """
    code, out, err = mpirun.run("-n", ranks, program("midway"), *words, env=env or {})
    found = re.fullmatch(r"right: (\d+) (\d+)\n", out)
    assert code == 0 and found and err == "", (words, code, out, err)
    direct, failed = map(int, found.groups())
    if direct == 0:
        pytest.skip("this machine refuses process_vm_readv")
    return direct, failed


@pytest.mark.one_host("ranks on two hosts have no direct copies")
@pytest.mark.parametrize("microseconds",
                         [None, 0, 300, 3000, *([1000, 2000, 6000, 10000, 20000] if LONG else [])])
@pytest.mark.parametrize("who", ["first", "all"])
@pytest.mark.parametrize("how", ["seccomp", "dumpable"])
def test_memory_that_is_closed_between_and_during_long_messages(mpirun, program, how, who, microseconds):
    """The messages must be right even if a process restricts itself while they are under way.

    The process either installs a filter that refuses its own calls, or closes its memory to all other
    processes.
    """
    if how == "seccomp":
        seccomp_or_skip(program)
    words = [how, who, *([] if microseconds is None else [microseconds])]
    _, failed = direct_and_failed(mpirun, program, 2, *words)
    assert failed > 0


@pytest.mark.one_host("ranks on two hosts have no direct copies")
@pytest.mark.parametrize("of", ["reads", "writes"])
@pytest.mark.parametrize("fault", ["refuse", "once", "part"])
def test_any_direct_copy_may_fail(mpirun, program, of, fault):
    """Sender and receiver both copy pieces of a message, and any of these copies may fail. The message must
    be right nevertheless.

    After a certain number of calls, either all calls fail, or one call fails, or one call copies only a part.
    """
    failed = 0
    for number in [1, 90] if not LONG else [*range(8), *range(10, 340, 17)]:
        for ranks, who in [(2, "all"), (3, "first")] if number != 7 or LONG else [(2, "first")]:
            failed += direct_and_failed(mpirun, program, ranks, of, fault, who, number)[1]
    assert failed > 0


@pytest.mark.one_host("ranks on two hosts have no direct copies")
def test_copies_fail_while_a_helper_makes_them(mpirun, program):
    for of in ("reads", "writes"):
        assert direct_and_failed(mpirun, program, 2, of, "refuse", "all", 5,
                                 env={"LANYARD_PROGRESS": "helper"})[1] > 0


class SmallMemory:
    """Runs commands in a mount namespace of their own with a small tmpfs. The kernel removes the tmpfs when
    the commands end."""

    def __init__(self, mpirun, tmp_path):
        self.mpirun = mpirun
        self.folder = tmp_path / "memory"
        self.folder.mkdir()
        self.unshare = (["unshare", "--mount"] if os.geteuid() == 0
                        else ["unshare", "--user", "--map-root-user", "--mount"])
        if subprocess.run([*self.unshare, "true"], capture_output=True, check=False).returncode != 0:
            pytest.skip("mount namespaces are refused")

    def run(self, size, *words, launched=True, **keywords):
        script = f'mount -t tmpfs -o size={size} tmpfs "$1" || exit 94; shift; exec "$@"'
        command = [*self.unshare[1:], "sh", "-c", script, "sh", self.folder,
                   *([self.mpirun.path] if launched else []), *words]
        return self.mpirun.run(*command, launcher="unshare",
                               env={"LANYARD_SHM_DIR": self.folder, **keywords.pop("env", {})}, **keywords)


@pytest.fixture
def small_memory(mpirun, tmp_path):
    memory = SmallMemory(mpirun, tmp_path)
    yield memory
    assert not os.path.ismount(memory.folder) and not list(memory.folder.iterdir())


def test_four_ranks_in_one_mebibyte(small_memory, program):
    assert small_memory.run("1m", "-n", 4, program("exchange")) == (0, "right\n", "")


@pytest.mark.parametrize("cma", ["on", "off"])
def test_four_ranks_in_one_mebibyte_with_collectives_of_all_sizes(small_memory, program, cma):
    assert small_memory.run("1m", "-n", 4, program("exchange"), 1 << 22,
                            env={"LANYARD_CMA": cma}) == (0, "right\n", "")


MEMORY_FILE = (r"mpirun: \S+ cannot be used for the memory that ranks share: .+; a memory file is used "
               r"instead\n")
MESSAGES = r". All ranks send messages over the network's path instead, which is slower\n"
# Starts a rank as a launcher would that passes no file for shared memory.
NO_FILE = (sys.executable, "-S", "-c",
           'import os, sys; os.close(int(os.environ.pop("LANYARD_SEGMENT_FD"))); '
           'os.execv(sys.argv[1], sys.argv[1:])')


def test_sixteen_ranks_that_do_not_fit_have_a_memory_file(small_memory, program):
    code, out, err = small_memory.run("1m", "-n", 16, program("exchange"))
    assert (code, out) == (0, "right\n") and re.fullmatch(MEMORY_FILE, err), err


@pytest.mark.one_host("ranks that share no memory need no folder for it")
def test_without_a_memory_file_the_size_needed_is_told(small_memory, program):
    code, out, err = small_memory.run("1m", "-n", 16, *NO_FILE, program("exchange"))
    assert (code, out) == (0, "right\n"), err
    found = re.search(r"16 processes on this node need (\d+) KiB of shared memory, but only (\d+) KiB are "
                      r"free in \S+/memory; enlarge the file system of this folder, or set LANYARD_SHM_DIR "
                      r"to a folder in memory with more room, or start fewer processes" + MESSAGES, err)
    assert found, err
    needed, free = map(int, found.groups())
    assert free <= 1024 < needed < 64 * 1024
    # The size that the error message recommends must be sufficient.
    assert small_memory.run(f"{needed + 8}k", "-n", 16, program("exchange"), 4096) == (0, "right\n", "")


# The command that brings /dev/shm into each state, in the test's own mount namespace.
FOLDERS = {"missing": "mount -t tmpfs tmpfs /dev", "read-only": "mount -t tmpfs -o ro tmpfs /dev/shm",
           "full": "mount -t tmpfs -o size=16k tmpfs /dev/shm",
           "without inodes": "mount -t tmpfs -o nr_inodes=1 tmpfs /dev/shm"}


@pytest.mark.one_host("ranks that share no memory need no folder for it")
@pytest.mark.parametrize("launcher", ["mpirun", "another"])
@pytest.mark.parametrize("how", FOLDERS)
def test_unusable_dev_shm_is_replaced(mpirun, program, how, launcher):
    """The job cannot use /dev/shm. If mpirun passes a memory file, the job must use this file. Otherwise the
    ranks must use messages and no shared memory. In both cases one line must say so."""
    unshare = (["unshare", "--mount"] if os.geteuid() == 0
               else ["unshare", "--user", "--map-root-user", "--mount"])
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("mount namespaces are refused")
    keep = ("mknod /dev/null c 1 3 && chmod 666 /dev/null && mknod -m 666 /dev/urandom c 1 9"
            if how == "missing" else "true")
    if how == "missing" and os.geteuid() != 0:
        pytest.skip("device files can be made by root only")
    script = f'{FOLDERS[how]} && {keep} || exit 94; exec "$@"'
    between = NO_FILE if launcher == "another" else ()
    code, out, err = mpirun.run(*unshare[1:], "sh", "-c", script, "sh", mpirun.path, "-n", 3, *between,
                                program("exchange"), launcher="unshare")
    assert (code, out) == (0, "right\n"), err
    if launcher == "mpirun":
        assert re.fullmatch(MEMORY_FILE, err) and "/dev/shm cannot be used" in err, err
    else:
        # mpirun first prints a line about its memory file, but these ranks do not get that file.
        assert len(re.findall(MESSAGES, err)) == 1 and "/dev/shm" in err.splitlines()[-1], err


@pytest.mark.one_host("ranks that share no memory need no folder for it")
def test_no_memory_is_shared_where_no_other_path_is_allowed(mpirun, program):
    code, out, err = mpirun.run("-n", 2, *NO_FILE, program("exchange"),
                                env={"LANYARD_SHM_DIR": "/proc", "LANYARD_PATHS": "self,shm"})
    assert code != 0 and out == ""
    assert ("making /proc/lanyard-0-" in err
            and "LANYARD_PATHS leaves no other path: add tcp or dgram" in err), err


@pytest.mark.one_host("ranks that share no memory need no folder for it")
@pytest.mark.parametrize("paths", ["self,shm,tcp", "self,shm,dgram"])
@pytest.mark.parametrize("kib", [32, 256, 1024])
def test_files_may_not_be_as_long_as_the_segment(mpirun, program, paths, kib):
    """Under `ulimit -f` the kernel sends SIGXFSZ to a process that makes a file longer than the limit."""
    limited = ("sh", "-c", f'ulimit -f {2 * kib}; exec "$@"', "sh")
    code, out, err = mpirun.run("-n", 2, *limited, program("exchange"), env={"LANYARD_PATHS": paths})
    assert (code, out) == (0, "right\n"), err
    if kib > 32:
        assert err == "", "there is room for fewer buffers"
        return
    assert re.fullmatch(r"lanyard rank 0 \[paths\] 2 processes on this node need \d+ KiB of shared memory, "
                        r"and files may not be longer than \d+ KiB here; raise that limit \(ulimit -f\)"
                        + MESSAGES, err), err


@pytest.mark.parametrize("door", ["mpicc"])
@pytest.mark.parametrize("paths", ["self,shm", "self,tcp", "self,dgram"])
def test_a_job_in_few_addresses(mpirun, program, paths, door):
    """The kernel limits each process to 1 GB of address space (ulimit -v). The test requires more: none of
    the four ranks may use over 200 MB."""
    if "asan" in os.environ.get("LANYARD_CC", "") or "-fsanitize" in os.environ.get("LANYARD_CC", ""):
        pytest.skip("sanitizers reserve terabytes of addresses")
    script = 'ulimit -v 1000000; exec "$@"'
    code, out, err = mpirun.run("-c", script, "sh", mpirun.path, "-n", 4, program("addresses"), launcher="sh",
                                env={"LANYARD_PATHS": paths})
    assert (code, err) == (0, ""), (out, err)
    kib = [int(line) for line in out.split()]
    assert len(kib) == 4 and max(kib) < 200_000, kib


@pytest.mark.one_host("ranks that share no memory have none to give back")
def test_memory_of_thousands_of_communicators_goes_back(mpirun, program):
    assert mpirun.run("-n", 3, program("communicators"), 3000) == (0, "right\n", "")


def test_sixty_four_ranks_in_sixty_four_mebibyte(small_memory, program):
    assert small_memory.run("64m", "-n", 64, program("exchange"), 20000, timeout=120) == (0, "right\n", "")


@pytest.mark.parametrize("ranks", [2, 4])
def test_memory_that_fills_up_later_is_not_missed_by_ranks_that_have_met(small_memory, program, ranks):
    """Ranks that have exchanged messages before must not be affected when shared memory fills up.

    The ranks create communicators, call collectives and receive thousands of unexpected messages. Later there
    is room again.
    """
    assert small_memory.run("8m", "-n", ranks, program("full"), "met") == (0, "right\n", "")


def test_signals_while_memory_is_taken(small_memory, program):
    assert small_memory.run("8m", "-n", 4, program("full"), "interrupted") == (0, "right\n", "")


FULL = (r"the shared memory of this node in \S+/memory is full, and the first message to another process "
        "needs 8 KiB of it; enlarge the file system of this folder, or set LANYARD_SHM_DIR to a folder in "
        "memory with more room")


@pytest.mark.parametrize("what", ["send", "sendrecv", "long", "communicators", "collectives"])
def test_memory_that_fills_up_before_ranks_meet_ends_the_job_with_a_sentence(small_memory, program, what):
    code, out, err = small_memory.run("8m", "-n", 4, program("full"), "strangers", what,
                                      small_memory.folder.parent / "is-full")
    if what == "collectives" and (code, out, err) == (0, "right\n", ""):
        return  # memory that was shared from the beginning may be sufficient for collectives
    assert out == "" and 0 < code < 128, (code, out, err)
    assert re.search(rf"^Lanyard: MPI_\w+\(.*\) on rank \d .* cannot be reached any more: {FULL}; the job is "
                     "aborted", err, re.MULTILINE), err
    assert "internal error" not in err


def test_both_ranks_are_told_that_full_memory_parts_them(small_memory, program):
    """If errors are returned, both the sender and the waiting receiver must get an error.

    Messages of these two ranks to other ranks must still arrive.
    """
    code, out, err = small_memory.run("8m", "-n", 3, program("full"), "strangers", "returned",
                                      small_memory.folder.parent / "is-full")
    assert (code, err) == (0, "")
    for words in (r"rank 1: MPI_Send\(.*dest=2.*\) on rank 1 .*: the process to send to",
                  r"rank 2: MPI_Recv\(.*source=1.*\) on rank 2 .*"):
        assert re.search(rf"^{words} cannot be reached any more: {FULL}$", out, re.MULTILINE), out
    assert "\nright\n" in out


def test_remedies_for_the_usual_folder_are_those_of_containers(mpirun, program):
    unshare = (["unshare", "--mount"] if os.geteuid() == 0
               else ["unshare", "--user", "--map-root-user", "--mount"])
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("mount namespaces are refused")

    def run(size, *words):
        script = f'mount -t tmpfs -o size={size} memory /dev/shm || exit 94; exec "$@"'
        return mpirun.run(*unshare[1:], "sh", "-c", script, "sh", *words, launcher="unshare")
    code, _, err = run("16k", mpirun.path, "-n", 2, *NO_FILE, program("exchange"))
    assert code == 0, err
    assert re.search(r"2 processes on this node need \d+ KiB of shared memory, but only \d+ KiB are free in "
                     r"/dev/shm; enlarge it \(containers: --shm-size\), or set LANYARD_SHM_DIR", err), err
    code, out, _ = run("16k", mpirun.build / "bin" / "lanyard", "doctor")
    assert code == 0, out
    found = (r"note +shared memory: /dev/shm has 16 KiB, of which \d+ KiB are free; two ranks need \d+ "
             r"KiB\n(.*\n)? +Remedy: Docker: --shm")
    assert re.search(found, out), out


def test_doctor_names_a_remedy_that_fits_the_folder(small_memory, mpirun):
    code, out, err = small_memory.run("8k", mpirun.build / "bin" / "lanyard", "doctor", launched=False)
    assert code == 0, (out, err)
    found = (r"note +shared memory: \S+/memory has 8 KiB, .*two ranks need \d+ KiB\n(.*\n)? +Remedy: enlarge "
             "the file system of this folder")
    assert re.search(found, out), out


def test_full_disk_under_the_files_of_output(small_memory):
    """Ranks on mpirun's own host write the output files themselves. If a write fails, the rank chooses its
    exit code."""
    code, out, err = small_memory.run("64k", "-n", 2, "--output", small_memory.folder / "out", "sh", "-c",
                                      "head -c 1000000 /dev/zero || exit 9",
                                      env={"LANYARD_SHM_DIR": "/dev/shm"})
    assert (code, out) == (9, "")
    assert re.fullmatch(r"mpirun: rank [01] \(sh, process \d+ on \S+\) ended with exit code 9\n", err), err


def test_full_disk_under_the_files_of_output_of_other_hosts(small_memory, mpirun):
    hosts = ["--ssh", mpirun.remote_shell, "--host", "a,b"]
    code, out, err = small_memory.run("64k", *hosts, "-n", 2, "--output", small_memory.folder / "out", "sh",
                                      "-c", "head -c 1000000 /dev/zero; sleep 1000",
                                      env={"LANYARD_SHM_DIR": "/dev/shm"})
    assert (code, out) == (1, "")
    assert re.fullmatch(r"mpirun: what rank [01] on [ab] prints cannot be written to \S+/out/rank-[01].out: "
                        r"No space left on device\n", err), err
