"""Tests that mpirun passes on what ranks print: in whole lines, with tags or into files, otherwise byte for
byte. Readers may be slow or absent."""
import os
import pty
import re
import select
import subprocess
import time

import pytest

WRITER = """
import os, sys
rank = os.environ["PMI_RANK"]
for i in range(2000):  # in pieces, so that lines that are not kept whole would mix
    os.write(1, f"{rank} {i} ".encode())
    os.write(1, b"x" * 100)
    os.write(1, b" end" + bytes([10]))
"""


def test_lines_of_ranks_do_not_mix(mpirun):
    code, out, err = mpirun.run("-n", 4, *mpirun.python(WRITER))
    assert (code, err) == (0, "")
    seen = {rank: [] for rank in range(4)}
    for line in out.splitlines():
        match = re.fullmatch(r"(\d) (\d+) x{100} end", line)
        assert match, line
        seen[int(match[1])].append(int(match[2]))
    assert all(numbers == list(range(2000)) for numbers in seen.values())


@pytest.mark.parametrize("option", ["-l", "--tag-output", "-prepend-rank"])
def test_tagged_lines(mpirun, option):
    code, out, err = mpirun.run(option, "-n", 3, "sh", "-c",
                                'echo one; echo two; echo bad >&2; printf "no end"')
    assert code == 0
    assert sorted(out.splitlines()) == sorted(f"[{rank}] {text}" for rank in range(3)
                                              for text in ("one", "two", "no end"))
    assert sorted(err.splitlines()) == [f"[{rank}] bad" for rank in range(3)]


def test_output_is_passed_on_byte_for_byte(mpirun):
    data = os.urandom(2_000_000)
    (mpirun.folder / "data").write_bytes(data)
    assert mpirun.run("cat", "data", text=False) == (0, data, b"")
    # With several ranks, nothing is added to or removed from an unfinished last line.
    assert mpirun.run("-n", 2, "printf", r"a\0b", text=False) == (0, b"a\0ba\0b", b"")


def test_very_long_lines(mpirun):
    code, out, _ = mpirun.run("-n", 2, *mpirun.python("import os; os.write(1, b'abc'); print('y' * 900000)"))
    assert code == 0
    assert [len(line) for line in out.splitlines()] == [900003, 900003]


def whole_lines(out):
    """{rank: {line: how often}} of lines that consist only of their rank's digit. Lines that were cut are
    joined."""
    form = re.compile(
        r"(?:\[rank (\d): the line goes on\] )?(\d*)(?: \[rank (\d): the line goes on below\])?")
    whole, begun = {}, {}
    for line in out.splitlines():
        goes_on, text, cut = form.fullmatch(line).groups()
        assert len(set(text)) <= 1, "lines of several ranks are mixed"
        rank = goes_on or cut or text[0]
        assert set(text) <= {rank} and cut in (None, rank)
        text = begun.pop(rank, "") + text
        if cut:
            begun[rank] = text
            continue
        lines = whole.setdefault(rank, {})
        lines[text] = lines.get(text, 0) + 1
    assert not begun
    return whole


@pytest.mark.parametrize("options", [[], ["-l"]], ids=["plain", "tagged"])
def test_lines_of_several_mebibytes_do_not_mix(mpirun, options):
    program = mpirun.python("import os\nfor _ in range(2): print(os.environ['PMI_RANK'] * 2_000_000)")
    code, out, err = mpirun.run(*options, "-n", 3, *program)
    assert (code, err) == (0, "")
    if not options:
        assert whole_lines(out) == {rank: {rank * 2_000_000: 2} for rank in "012"}
        return
    count = dict.fromkeys("012", 0)
    for line in out.splitlines():
        # A line that does not grow for a while may be cut, even just before its end.
        rank, text = re.fullmatch(r"\[(\d)\] (\d*)", line).groups()
        assert set(text) <= {rank}
        count[rank] += len(text)
    assert count == dict.fromkeys("012", 4_000_000)


def test_endless_line_does_not_keep_the_others_waiting(mpirun):
    """Rank 0 stops in the middle of a line until rank 1 has printed all of its long output."""
    code, out, err = mpirun.run("-n", 2, *mpirun.python("""
import os, time
if os.environ["PMI_RANK"] == "0":
    os.write(1, b"0" * 3_000_000)
    open("begun", "w").close()
    while not os.path.exists("said"): time.sleep(0.01)
    print("0" * 1000)
else:
    while not os.path.exists("begun"): time.sleep(0.01)
    for _ in range(3000): print("1" * 999)
    open("said", "w").close()"""))
    assert (code, err) == (0, "")
    assert whole_lines(out) == {"0": {"0" * 3_001_000: 1}, "1": {"1" * 999: 3000}}
    assert out.count(" [rank 0: the line goes on below]\n") == out.count("\n[rank 0: the line goes on] ") == 1


def test_short_line_behind_one_that_stands_still_comes_out(mpirun):
    """Rank 0 continues only after the test has read what rank 1 prints."""
    process = mpirun.start("-n", 2, *mpirun.python("""
import os, time
if os.environ["PMI_RANK"] == "0":
    os.write(1, b"0" * 2_000_000)
    open("begun", "w").close()
    while not os.path.exists("read"): time.sleep(0.01)
    print("0")
else:
    while not os.path.exists("begun"): time.sleep(0.01)
    print("1111")"""))
    text = mpirun.read_until(process.stdout, lambda text: b"1111\n" in text)
    (mpirun.folder / "read").touch()
    rest, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert whole_lines((text + rest).decode()) == {"0": {"0" * 2_000_001: 1}, "1": {"1111": 1}}


def test_endless_line_that_ends_with_its_rank(mpirun):
    """A rank ends in the middle of a long line. What other ranks have printed meanwhile must not be lost, and
    mpirun's own message must be printed."""
    code, out, err = mpirun.run("-n", 3, *mpirun.python("""
import os, time
rank = os.environ["PMI_RANK"]
if rank == "0":
    os.write(1, b"0" * 3_000_000)
    open("begun", "w").close()
    while not (os.path.exists("said1") and os.path.exists("said2")): time.sleep(0.01)
    os._exit(5)
while not os.path.exists("begun"): time.sleep(0.01)
print(rank * 10, flush=True)
open("said" + rank, "w").close()"""), stderr=subprocess.STDOUT)
    assert (code, err) == (5, None)
    pieces = re.findall(r"0+|1+\n|2+\n|mpirun: .*\n", out)
    assert sum(len(piece) for piece in pieces if piece[0] == "0" and len(piece) > 9) == 3_000_000
    assert out.count("1" * 10 + "\n") == 1 and out.count("2" * 10 + "\n") == 1 and "mpirun: rank 0 (" in out


def test_both_streams_into_one_pipe_keep_lines_whole(mpirun):
    program = mpirun.python(
        "import os\nfor i in range(500):\n  os.write(1 + i % 2, b'ab'); os.write(1 + i % 2, b'cd' + "
        "bytes([10]))")
    code, out, _ = mpirun.run("-n", 4, *program, stderr=subprocess.STDOUT)
    assert code == 0
    assert out.splitlines() == ["abcd"] * 2000


def test_one_file_for_each_rank(mpirun):
    assert mpirun.run("--output", "sub/logs", "-n", 3, "sh", "-c",
                      "echo out $PMI_RANK; echo err $PMI_RANK >&2") == (0, "", "")
    for rank in range(3):
        assert (
            mpirun.folder / "sub" / "logs" / f"rank-{rank}.out").read_text() == f"out {rank}\nerr {rank}\n"
    assert len(os.listdir(mpirun.folder / "sub" / "logs")) == 3


def test_file_patterns(mpirun):
    code, out, err = mpirun.run("-outfile-pattern", "o.%r.%h.%%", "--errfile-pattern=e.%r", "-n", 2, "sh",
                                "-c", "echo out; echo err >&2")
    assert (code, out, err) == (0, "", "")
    for rank in range(2):
        assert (mpirun.folder / f"o.{rank}.{os.uname().nodename}.%").read_text() == "out\n"
        assert (mpirun.folder / f"e.{rank}").read_text() == "err\n"


def test_only_standard_output_into_files(mpirun):
    code, out, err = mpirun.run("-outfile-pattern", "o%r", "-n", 2, "sh", "-c", "echo out; echo err >&2")
    assert (code, out, err) == (0, "", "err\nerr\n")


def test_output_folder_that_cannot_be_made(mpirun):
    code, out, err = mpirun.run("--output", "/proc/nowhere", "-n", 2, "true")
    assert (code, out) == (1, "")
    assert "--output /proc/nowhere: the folder cannot be made" in err


def test_full_device_is_reported(mpirun):
    with open("/dev/full", "wb") as full:
        code, _, err = mpirun.run("-n", 2, "echo", "x", stdout=full)
    assert code == 1
    assert "could not be written to standard output: No space left on device" in err


def test_reader_that_leaves_ends_the_job_quietly(mpirun):
    code, out, err = mpirun.run("-c", f"{mpirun.path} -n 2 yes | head -n 1; echo ${{PIPESTATUS[0]}}",
                                launcher="/bin/bash")
    assert (code, out, err) == (0, "y\n141\n", "")


def test_slow_reader_stops_the_ranks_not_mpirun(mpirun):
    """The ranks print without end, and nothing reads the output. mpirun must buffer little, and must end when
    it receives a signal."""
    process = mpirun.start("-n", 2, "yes")
    def resident_kb():
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])
    def ranks_run():
        return "yes" in (words.strip() for words in mpirun.alive().values())
    mpirun.wait_until(ranks_run, "the ranks started")
    time.sleep(0.5)
    assert resident_kb() < (50_000 if mpirun.build.name == "release" else 500_000)
    process.send_signal(15)
    mpirun.wait_until(lambda: not ranks_run(), "the ranks ended")  # otherwise signal 2 may overtake 15
    process.send_signal(2)
    process.communicate(timeout=60)
    assert process.returncode == 128 + 15


def test_terminal_that_stops_does_not_stop_mpirun(mpirun):
    """The ranks print without end, and the terminal takes no more, as with Ctrl-S or a stalled ssh. mpirun
    must react to signals."""
    master, slave = pty.openpty()
    process = mpirun.start("-n", 2, "yes", stdout=slave, stderr=slave)
    os.close(slave)
    def ranks_run():
        return "yes" in (words.strip() for words in mpirun.alive().values())
    mpirun.wait_until(ranks_run, "the ranks started")
    time.sleep(0.5)
    process.send_signal(15)
    mpirun.wait_until(lambda: not ranks_run(), "the ranks ended")
    process.send_signal(2)
    read_terminal(master, b"\0")  # all that is left
    assert process.wait(timeout=60) == 128 + 15
    os.close(master)


def test_message_comes_after_what_the_rank_said_last(mpirun):
    for _ in range(10):
        code, _, err = mpirun.run("-n", 2, "sh", "-c",
                                  'test $PMI_RANK = 0 && { echo "my own words" >&2; exit 5; }; sleep 60')
        assert code == 5
        assert err.splitlines()[0] == "my own words" and "ended with exit code 5" in err.splitlines()[1]


def read_terminal(master, until, timeout=60):
    text = b""
    end = time.monotonic() + timeout
    while until not in text and time.monotonic() < end:
        if not select.select([master], [], [], 0.1)[0]:
            continue
        try:
            text += os.read(master, 4096)
        except OSError:  # the other side is closed
            break
    return text


def test_prompt_without_a_newline_shows_on_a_terminal(mpirun):
    master, slave = pty.openpty()
    process = mpirun.start("-n", 2, "sh", "-c",
                           'test $PMI_RANK = 0 && { printf "name? "; read name; echo "hello $name"; }; true',
                           stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                           preexec_fn=lambda: take_terminal(slave))
    os.close(slave)
    assert b"name? " in read_terminal(master, b"name? ")
    os.write(master, b"you\n")
    assert b"hello you" in read_terminal(master, b"hello you")
    assert process.wait(timeout=60) == 0
    os.close(master)


def take_terminal(terminal):
    import fcntl
    import termios
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


def test_keys_of_the_terminal_reach_the_ranks(mpirun):
    """Ctrl-C typed at mpirun's terminal must end the ranks, although they are not in the terminal's process
    group."""
    master, slave = pty.openpty()
    process = mpirun.start("-n", 2, "sh", "-c", "echo ready; exec sleep 60", stdin=slave, stdout=slave,
                           stderr=slave, start_new_session=True, preexec_fn=lambda: take_terminal(slave))
    os.close(slave)
    text = read_terminal(master, b"ready\r\nready")
    assert text.count(b"ready") == 2
    os.write(master, b"\x03")
    assert process.wait(timeout=60) == 130
    rest = read_terminal(master, b"mpirun:", timeout=0.3)
    assert b"mpirun" not in rest
    os.close(master)
