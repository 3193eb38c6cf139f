"""Tests which command lines mpirun accepts, and the message and exit code for those that it refuses."""
import shutil
import subprocess

import pytest


@pytest.mark.parametrize("word", ["-n", "-np", "-c", "--n", "--np"])
def test_number_of_ranks(mpirun, word):
    code, out, err = mpirun.run(word, 3, "sh", "-c", "echo $PMI_RANK of $PMI_SIZE")
    assert (code, sorted(out.splitlines()), err) == (0, ["0 of 3", "1 of 3", "2 of 3"], "")


def test_one_rank_without_a_number(mpirun):
    assert mpirun.run("sh", "-c", "echo $PMI_SIZE") == (0, "1\n", "")


def test_several_programs(mpirun):
    show = ('echo "$0 $LANYARD_RANK/$LANYARD_SIZE $LANYARD_LOCAL_RANK/$LANYARD_LOCAL_SIZE '
            '$MPI_LOCALRANKID/$MPI_LOCALNRANKS"')
    code, out, err = mpirun.run("-n", 1, "sh", "-c", show, "first", ":", "-n", 2, "sh", "-c", show, "second")
    assert (code, err) == (0, "")
    assert sorted(out.splitlines()) == ["first 0/3 0/3 0/3", "second 1/3 1/3 1/3", "second 2/3 2/3 2/3"]


REFUSED = [
    (["-n", "0", "true"], '-n takes a number of ranks from 1 to 65536, not "0"'),
    (["-n", "abc", "true"], '-n takes a number of ranks from 1 to 65536, not "abc"'),
    (["-n", "-1", "true"], 'not "-1"'),
    (["-n", "2x", "true"], 'not "2x"'),
    (["-n", "99999999999", "true"], 'not "99999999999"'),
    (["-n"], "-n needs N after it"),
    ([], "no program was named"),
    (["-n", "2"], "no program was named"),
    (["-n", "2", "true", ":"], "a program is missing after the last ':'"),
    (["-n", "2", "true", ":", "-n", "1"], "a program is missing after the last ':'"),
    ([":", "true"], "a program is missing before ':'"),
    (["--tag-outptu", "true"], "there is no option --tag-outptu; did you mean --tag-output?"),
    (["-wdri", "/", "true"], "did you mean --wdir?"),
    (["--qqqqqqqqqqq", "true"], "there is no option --qqqqqqqqqqq; see mpirun --help"),
    (["-q", "true"], "there is no option -q; see mpirun --help"),
    (["--map-by", "core", "true"], '--map-by takes slot, node or ppr:N:node, not "core"'),
    (["--map-by", "ppr:x:node", "true"], '--map-by takes a number of ranks from 1 to 65536, not "x"'),
    (["--map-by", "ppr:1:node", "-n", "2", "true"], "2 ranks at 1 per host need more hosts than this one"),
    (["--fan-out", "0", "true"], '--fan-out takes a number of hosts from 1 to 65536, not "0"'),
    (["-xyz", "true"], "there is no option -xyz; see mpirun --help"),
    (["-gnev", "A", "B", "true"], "there is no option -gnev; did you mean --genv?"),
    (["-sdtin", "0", "true"], "there is no option -sdtin; did you mean --stdin?"),
    (["-timout", "1", "true"], "there is no option -timout; did you mean --timeout?"),
    (["--tag-output=yes", "true"], "--tag-output takes no value"),
    (["--timeout", "soon", "true"], '--timeout takes a number of seconds above 0, not "soon"'),
    (["--timeout", "0", "true"], "above 0"),
    (["--timeout=nan", "true"], "above 0"),
    (["--stdin", "all", "true"], '--stdin takes one rank or none, not "all"'),
    (["-n", "2", "--stdin", "2", "true"], "--stdin 2: the job has ranks 0 to 1 only"),
    (["--bind-to", "socket", "true"], '--bind-to takes none, core or auto, not "socket"'),
    (["-x", "=3", "true"], "-x needs the name of a variable"),
    (["-genv", "A"], "-genv needs NAME VALUE after it"),
    (["--genv", "A", "-n", "2", "true"],
     '--genv A would have the value "-n", which is an option; write --genv A=VALUE'),
    (["-env", "A", "--", "true"],
     '-env A would have the value "--", which is an option; write -env A=VALUE'),
    (["-hostfile", "absent", "true"],
     "-hostfile absent: the host file cannot be read: No such file or directory"),
    (["-f", "/", "true"], "-f /: the host file cannot be read: Is a directory"),
    (["-f", "/dev/null", "true"], "/dev/null: the file names no host"),
    (["-host", "a:x", "true"], '-host a:x: the number of slots after \':\', "x" is not a number'),
    (["-host", "a,,b", "true"], '"" is not the name of a host'),
    (["-H", "-oProxyCommand=x", "true"], '"-oProxyCommand=x" is not the name of a host'),
    (["-H", "a", "-f", "hosts", "true"], "-H and -f both say where to run"),
    (["-ppn", "1", "-n", "2", "true"], "2 ranks at 1 per host need more hosts"),
    (["-wdir", "/nonexistent", "true"], "rank 0: -wdir /nonexistent: No such file or directory"),
    (["-wdir", "/etc/passwd", "true"], "-wdir /etc/passwd: it is not a folder"),
    (["-n", "2", "-outfile-pattern", "out", "true"], "put %r (the rank) into it"),
    (["-outfile-pattern", "%q", "true"], "only %r (rank), %h (host) and %% are known"),
    (["--output", "d", "-outfile-pattern", "f%r", "true"], "use one of them"),
    (["--output", "d1", "true", ":", "--output", "d2", "true"],
     "--output was given twice, with d1 and with d2"),
    (["-outfile-pattern", "a%r", "-outfile-pattern", "b%r", "true"],
     "-outfile-pattern was given twice, with a%r and with b%r"),
    (["--mca", "btl", "tcp", "true"],
     "--mca is an option of Open MPI; settings are variables LANYARD_NAME=VALUE here, and lanyard info "
     "--settings"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED,
                         ids=[" ".join(case[0]) or "nothing" for case in REFUSED])
def test_refused(mpirun, arguments, words):
    code, out, err = mpirun.run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("mpirun: ") and err.count("\n") == 1
    assert words in err


def test_options_after_the_program_are_its_own(mpirun):
    assert mpirun.run("-n", 1, "echo", "-n", "--help", "--nonsense")[:2] == (0, "--help --nonsense")


def test_two_dashes_end_the_options(mpirun):
    assert mpirun.run("-n", 1, "--", "echo", "x") == (0, "x\n", "")


@pytest.mark.parametrize("value", ["-", "---", "-5", ""])
def test_values_of_variables_that_are_no_options(mpirun, value):
    show = "sh", "-c", "echo $A+$B"
    assert mpirun.run("-genv", "A", value, "-env", "B", value, *show) == (0, f"{value}+{value}\n", "")


@pytest.mark.parametrize("accepted", [["--oversubscribe"], ["--allow-run-as-root"], ["-genvall", "-envall"],
                                      ["--use-hwthread-cpus"], ["-host", "localhost:8"],
                                      ["-hosts", "localhost"], ["-ppn", "2"],
                                      ["-H", "127.0.0.1", "-ppn", "1"], ["--map-by", "node"], ["-rr"],
                                      ["--ssh", "/nonexistent"]],
                         ids=" ".join)
def test_accepted_where_they_ask_for_what_happens_anyway(mpirun, accepted):
    assert mpirun.run(*accepted, "-n", 2, "true") == (0, "", "")


@pytest.mark.parametrize("word", ["--help", "-help", "-h"])
def test_help_tells_and_succeeds(mpirun, word):
    code, out, err = mpirun.run(word)
    assert (code, err) == (0, "")
    for text in ("Usage: mpirun", "--timeout SECONDS", "--tag-output", "-genv", "--bind-to", "128+N",
                 "LANYARD_SHM_DIR"):
        assert text in out


def test_version(mpirun):
    code, out, err = mpirun.run("--version")
    assert (code, err) == (0, "")
    assert out.startswith("mpirun (Lanyard) 0.")


def test_mpiexec_is_the_same_command(mpirun):
    assert mpirun.run("-n", 2, "echo", "x", launcher=mpirun.build / "bin" / "mpiexec") == (0, "x\nx\n", "")


@pytest.mark.parametrize("page", ["mpirun", "mpiexec", "mpicc", "mpicxx"])
def test_manual_pages_have_what_help_says(mpirun, page):
    text = (mpirun.build / "share" / "man" / "man1" / f"{page}.1").read_text().replace("\\", "")
    for section in (".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS"):
        assert section in text
    help_text = subprocess.run([mpirun.build / "bin" / page, "--help"], capture_output=True, text=True,
                               check=True, timeout=60).stdout
    options = [line.strip() for line in help_text.splitlines() if line.startswith("  -")]
    assert len(options) >= 10
    for option in options:
        assert option in text
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-ww", "-z"], input=text, capture_output=True, text=True,
                              check=True, timeout=60)
        assert done.stderr == ""


def test_unknown_setting_suggests_the_nearest(mpirun):
    code, out, err = mpirun.run("-n", 2, "true", env={"LANYARD_EAGER_LIMTI": "3"})
    assert (code, out) == (0, "")
    assert err.count("\n") == 1
    assert "LANYARD_EAGER_LIMTI is not a setting" in err and "did you mean LANYARD_EAGER_LIMIT?" in err


@pytest.mark.parametrize("name", ["LANYARD_FOO", "LANYARD_X", "LANYARD_LONGER_NAME"])
def test_unknown_setting_that_is_near_to_none(mpirun, name):
    code, _, err = mpirun.run("true", env={name: "3"})
    assert (code, err) == (
        0, f"mpirun: {name} is not a setting of Lanyard (all settings: lanyard info --settings)\n")


def test_setting_of_a_job_is_checked_too(mpirun):
    code, _, err = mpirun.run("-genv", "LANYARD_CHEKC", "on", "true")
    assert code == 0
    assert "did you mean LANYARD_CHECK?" in err


def test_settings_of_all_programs_are_checked_and_told_once(mpirun):
    code, _, err = mpirun.run("true", ":", "-x", "LANYARD_CHEKC=on", "true", ":", "-x", "LANYARD_CHEKC=on",
                              "true")
    assert (code, err.count("did you mean LANYARD_CHECK?")) == (0, 1)
    code, _, err = mpirun.run("true", ":", "-x", "LANYARD_EAGER_LIMIT=many", "true")
    assert code == 2 and "LANYARD_EAGER_LIMIT=many cannot be used" in err


def test_settings_of_two_programs_do_not_contradict_each_other(mpirun):
    caller, thread = ("-x", "LANYARD_PROGRESS=caller"), ("-x", "LANYARD_DGRAM_PROGRESS=thread")
    assert mpirun.run(*caller, "true", ":", *thread, "true") == (0, "", "")
    code, _, err = mpirun.run("true", ":", *caller, *thread, "true")
    assert code == 2 and "LANYARD_DGRAM_PROGRESS=thread cannot be used: LANYARD_PROGRESS=caller" in err


def test_same_output_folder_twice(mpirun):
    assert mpirun.run("--output", "d", "true", ":", "--output", "d", "true") == (0, "", "")


def test_unusable_value_of_a_setting(mpirun):
    code, _, err = mpirun.run("true", env={"LANYARD_EAGER_LIMIT": "many"})
    assert code == 2
    assert "LANYARD_EAGER_LIMIT=many cannot be used" in err
