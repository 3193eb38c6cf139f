"""Tests the command `lanyard` of the build that LANYARD_BUILD names: output and exit codes of info, doctor
and bench."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from refusals import refuse_process_vm_readv  # noqa: E402

BUILD = pathlib.Path(os.environ.get("LANYARD_BUILD", "build/release")).absolute()
LANYARD = BUILD / "bin" / "lanyard"


def lanyard(*arguments, prepare=None, drop=("LANYARD_CC", "LANYARD_CXX", "LD_LIBRARY_PATH"), **environment):
    values = {name: value for name, value in os.environ.items() if name not in drop}
    return subprocess.run([LANYARD, *arguments], env={**values, **environment}, preexec_fn=prepare,
                          capture_output=True, text=True, timeout=60, check=False)


def findings(**keywords):
    done = lanyard("doctor", "--json", **keywords)
    assert done.stderr == ""
    return done.returncode, {finding["subject"]: finding for finding in json.loads(done.stdout)}


@pytest.mark.parametrize("arguments", [[], ["info"], ["doctor"], ["bench"]], ids=" ".join)
def test_help_tells_and_succeeds(arguments):
    done = lanyard(*arguments, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: lanyard" in done.stdout


BENCHMARKS = ("latency", "bandwidth", "rate", "allreduce", "barrier", "line", "startup", "limits", "overlap",
              "unidirectional", "probe", "unexpected", "idle", "connect", "memory", "peers", "many",
              "exchange", "collectives", "tcp", "udp")


@pytest.mark.parametrize("option", ["--version", "-V", "-version"])
@pytest.mark.parametrize("arguments", [[], ["info"], ["doctor"], ["bench"]], ids=" ".join)
def test_version(arguments, option):
    done = lanyard(*arguments, option)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("lanyard 0.") and len(done.stdout.splitlines()) == 1


def benchmark(name, *arguments, direct):
    command = [BUILD / "libexec" / "lanyard" / f"bench-{name}"] if direct else [LANYARD, "bench", name]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("name", BENCHMARKS)
def test_help_and_version_of_a_benchmark(name, direct):
    for option in ("--help", "-h"):
        done = benchmark(name, option, direct=direct)
        assert (done.returncode, done.stderr) == (0, "")
        assert ("Usage: " + ("bench-" if direct else "lanyard bench ") + name in done.stdout and
                done.stdout.count("-V,--version") == 1)
    for option in ("--version", "-V", "-version"):
        done = benchmark(name, option, direct=direct)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"bench-{name} of Lanyard 0.") and len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize("name", BENCHMARKS)
def test_unknown_option_of_a_benchmark(name):
    done = benchmark(name, "--jsn", direct=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("'--jsn'") == 1 and "mpirun" not in done.stderr
    assert f"lanyard bench {name} --help " in done.stderr and "bench-" not in done.stderr
    assert name in ("startup", "tcp", "udp") or "did you mean '--json'?" in done.stderr


def test_benchmark_still_runs_under_mpirun():
    done = benchmark("barrier", "--blocks", "1", "--block-seconds", "1e-6", "--json", direct=False)
    assert (done.returncode, done.stderr) == (0, "") and json.loads(done.stdout)["ranks"] == 2


@pytest.mark.parametrize(("arguments", "words"), [
    (["doctr"], "there is no command 'doctr'; did you mean 'doctor'?"),
    (["xyzzy"], "there is no command 'xyzzy'; 'lanyard --help' lists the commands"),
    (["why"], "'why' is not part of version"),
    (["trace"], "'trace' is not part of version"),
    (["info", "--setings"], "'--setings' does not go with this command; did you mean '--settings'?"),
    (["doctor", "now"], "'now' does not go with this command"),
    (["info", "--ranks", "4"], "--ranks requires --coll"),
    (["--verson"], "did you mean '--version'?"),
    (["bench", "latncy"], "there is no benchmark 'latncy'; did you mean 'latency'?"),
    (["bench", "-n", "0", "latency"], '-n takes a number of ranks from 1 to 65536, not "0"'),
    (["bench", "-n", "65537", "latency"], '-n takes a number of ranks from 1 to 65536, not "65537"'),
    (["bench", "-n", "two", "latency"], '-n takes a number of ranks from 1 to 65536, not "two"'),
    (["bench", "latency", "-n", "4"], "-n must come before the benchmark's name: lanyard bench -n 4 latency"),
    (["bench", "latency", "-n4"], "-n must come before the benchmark's name: lanyard bench -n 4 latency"),
    (["bench", "--sweep", "copies=once,twice", "latency"],
     "--sweep must come after the benchmark's name: lanyard bench latency --sweep copies=once,twice"),
    (["bench", "--sweep", "copies"],
     "--sweep must come after the benchmark's name: lanyard bench NAME --sweep copies"),
    (["bench", "latency", "--sweep", "copis"],
     "--sweep: there are no values for 'copis'; did you mean 'copies'?"),
    (["info", "--coll", "bcst"], '"bcst" is no collective operation'),
    (["info", "--json"], "--json goes with --settings, --coverage, --paths or --coll"),
])
def test_usage_errors(arguments, words):
    done = lanyard(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_settings_show_defaults_and_what_is_set():
    rows = {row["name"]: row
            for row in json.loads(lanyard("info", "--settings", "--json", LANYARD_EAGER_LIMIT="8k").stdout)}
    assert rows["LANYARD_EAGER_LIMIT"]["value"] == "8192"
    assert rows["LANYARD_EAGER_LIMIT"]["default"] != "8192"
    assert all(row["sentence"] for row in rows.values())
    text = lanyard("info", "--settings", LANYARD_EAGER_LIMIT="8k").stdout
    assert "(now 8192)" in text and set(rows) <= {line.split("=")[0] for line in text.splitlines()}


def test_settings_as_json_need_not_be_utf_8():
    done = lanyard("info", "--settings", "--json", LANYARD_SHM_DIR=os.fsdecode(b"/tmp/\xff"))
    assert (done.returncode, done.stderr) == (0, "")
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["LANYARD_SHM_DIR"]["value"] == "/tmp/\ufffd"


def test_settings_that_cannot_be_used_are_named():
    done = lanyard("info", "--settings", LANYARD_CMA="maybe")
    assert done.returncode == 1
    assert "LANYARD_CMA=maybe cannot be used" in done.stderr
    assert "did you mean LANYARD_PATHS?" in lanyard("info", "--settings", LANYARD_PATH="shm").stderr


def test_every_setting_that_cannot_be_used_is_told():
    wrong = {"LANYARD_CMA": "maybe", "LANYARD_PATHS": "smh", "LANYARD_LOG": "debugg",
             "LANYARD_EAGER_LIMIT": "lots"}
    for arguments in (["info", "--settings"], ["info", "--paths"]):
        done = lanyard(*arguments, **wrong)
        assert (done.returncode, len(done.stderr.splitlines())) == (1, len(wrong)), done
        # The list contains the allowed values.
        assert ("LANYARD_CMA=on" in done.stdout) == ("--settings" in arguments)
        assert all(f"{name}={value} cannot be used: " in done.stderr for name, value in wrong.items())
    done = lanyard("doctor", "--json", **wrong)
    told = [finding["sentence"] for finding in json.loads(done.stdout) if finding["subject"] == "settings"]
    assert done.returncode == 1 and len(told) == len(wrong)
    assert any('there is no path "smh", did you mean shm?; the paths are self, shm, tcp and dgram' in sentence
               for sentence in told)


def test_settings_tell_the_words_they_take():
    sentences = {row["name"]: row["sentence"]
                 for row in json.loads(lanyard("info", "--settings", "--json").stdout)}
    assert "self, shm, tcp and dgram" in sentences["LANYARD_PATHS"]
    assert ("info, debug or trace" in sentences["LANYARD_LOG"] and
            "shm, tcp, p2p, comm, coll" in sentences["LANYARD_LOG"])
    for word in ("messages never received", "requests never completed", "receives never matched",
                 "sends it waits for"):
        assert word in sentences["LANYARD_CHECK"]


def test_coverage_counts_every_function_and_agrees_with_its_table():
    report = json.loads(lanyard("info", "--coverage", "--json").stdout)
    assert report["implemented"] + report["missing"] == len(report["functions"]) >= 662
    assert sum(function["implemented"] for function in report["functions"]) == report["implemented"]
    last = lanyard("info", "--coverage").stdout.splitlines()[-1].split()
    assert last[-2:] == [str(report["implemented"]), str(report["missing"])]
    missing = [function["name"] for function in report["functions"] if not function["implemented"]]
    listed = [line.strip() for line in lanyard("info", "--missing").stdout.splitlines()
              if line.startswith("    ")]
    assert listed == missing


def test_paths_show_how_long_messages_are_copied():
    shm = json.loads(lanyard("info", "--paths", "--json").stdout)[1]
    rows = shm["copies"]
    assert shm["name"] == "shm" and [row["bytes"] for row in rows] == [16384 << i for i in range(10)]
    for row in rows:
        rates = {"once": row["once_mb_per_s"], "twice": row["twice_mb_per_s"]}
        # Both methods if their rates are equal.
        fastest = {name for name, rate in rates.items() if rate == max(rates.values())}
        # No method is chosen if the kernel refuses direct copies.
        assert row["chosen"] in (fastest if max(rates.values()) else {""})
        assert row["chosen_mapped"] in ("once", "twice")
    text = lanyard("info", "--paths").stdout
    assert ("LANYARD_COPIES" in text and
            len([line for line in text.splitlines() if line.strip().endswith(("once", "twice"))]) >= 10)


def test_paths_say_why_copying_could_not_be_tried():
    result = lanyard("info", "--paths", LANYARD_SHM_DIR="/nowhere")
    assert result.returncode == 0 and "could not be tried: " in result.stdout and "/nowhere" in result.stdout


def test_paths_show_what_is_chosen():
    chosen = {row["name"]: row["chosen"]
              for row in json.loads(lanyard("info", "--paths", "--json", LANYARD_PATHS="self").stdout)}
    assert chosen == {"self": True, "shm": False, "tcp": False, "dgram": False}


def test_doctor_finds_nothing_wrong_with_this_build():
    code, found = findings(PATH=f"{BUILD / 'bin'}:{os.environ['PATH']}")
    assert code == 0, found
    assert found["library"]["verdict"] == found["compiler"]["verdict"] == found["PATH"]["verdict"] == "good"
    assert set(found) >= {"processors", "shared memory", "long messages"}


def test_doctor_names_another_mpi_on_path(tmp_path):
    other = tmp_path / "mpirun"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    _, found = findings(PATH=f"{tmp_path}:{BUILD / 'bin'}:{os.environ['PATH']}")
    assert found["PATH"]["verdict"] == "note"
    assert (str(other) in found["PATH"]["sentence"] and
            f"export PATH={BUILD}/bin:$PATH" in found["PATH"]["remedy"])


@pytest.mark.parametrize("library", ["libmpi_abi.so.1", "libmpi.so.12", "libmpich.so.12"])
def test_doctor_names_another_library_in_front(tmp_path, library):
    (tmp_path / library).write_text("another one")
    code, found = findings(LD_LIBRARY_PATH=str(tmp_path))
    assert code == 1
    assert f"programs will use {tmp_path}/{library}" in found["LD_LIBRARY_PATH"]["sentence"]
    _, found = findings(LD_LIBRARY_PATH=f"{BUILD / 'lib'}:{tmp_path}")
    assert "LD_LIBRARY_PATH" not in found


def test_doctor_says_when_shared_memory_has_no_place():
    code, found = findings(LANYARD_SHM_DIR="/no/such/folder")
    assert code == 0
    assert found["shared memory"]["verdict"] == "note"
    assert "/no/such/folder: No such file or directory" in found["shared memory"]["sentence"]
    assert "LANYARD_SHM_DIR" in found["shared memory"]["remedy"]


def test_doctor_sees_a_refused_process_vm_readv():
    code, found = findings(prepare=refuse_process_vm_readv)
    assert code == 0
    assert found["long messages"]["verdict"] == "note"
    assert "is refused: Operation not permitted" in found["long messages"]["sentence"]
    assert ("two copies" in found["long messages"]["instead"] and
            "SYS_PTRACE" in found["long messages"]["remedy"])


def test_doctor_tries_the_endpoint_of_datagrams():
    dgram = {"LANYARD_PATHS": "self,dgram"}
    _, found = findings(**dgram)
    assert re.fullmatch(r"a UDP socket gets \d+ [KM]iB of buffer( of the 4 MiB wanted)?",
                        found["datagrams"]["sentence"])
    _, found = findings()
    assert found["datagrams"]["verdict"] == "good"
    assert found["datagrams"]["sentence"].endswith(", which LANYARD_PATHS=self,shm,tcp does not use")
    code, found = findings(**dgram, LANYARD_DGRAM_IO="libfabric:nope")
    assert code == 1 and found["datagrams"]["verdict"] == "problem"
    assert ("LANYARD_DGRAM_IO=libfabric:nope" in found["datagrams"]["sentence"] and
            "unset LANYARD_DGRAM_IO" in found["datagrams"]["remedy"])
    _, found = findings(LANYARD_DGRAM_IO="libfabric:nope")
    assert found["datagrams"]["verdict"] == "note"


def test_doctor_needs_a_compiler_only_for_mpicc():
    code, found = findings(LANYARD_CC="no-such-compiler")
    assert code == 0
    assert found["compiler"]["verdict"] == "note" and "no-such-compiler" in found["compiler"]["sentence"]


def test_doctor_names_a_foreign_job_and_wrong_settings():
    _, found = findings(LANYARD_COLL="bcast=tree")
    assert 'LANYARD_COLL=bcast=tree cannot be used: "tree" is no algorithm' in found["settings"]["sentence"]
    code, found = findings(SLURM_PROCID="0", LANYARD_CMA="maybe")
    assert code == 1
    assert "Slurm's srun" in found["another job"]["sentence"]
    assert "LANYARD_CMA=maybe" in found["settings"]["sentence"]


def test_doctor_as_text_names_each_verdict():
    text = lanyard("doctor", LANYARD_SHM_DIR="/no/such/folder").stdout
    assert text.splitlines()[0].startswith("Lanyard 0.")
    assert "note     shared memory: /no/such/folder" in text and "         Remedy: " in text


def test_sweep_runs_one_job_for_each_value():
    done = lanyard("bench", "barrier", "--sweep", "eager-limit=0,4096", "--blocks", "1", "--block-seconds",
                   "1e-6")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line for line in done.stdout.splitlines()
            if "=" in line] == ["# LANYARD_EAGER_LIMIT=0", "# LANYARD_EAGER_LIMIT=4096"]
    assert sum(line.split()[0] == "barrier" for line in done.stdout.splitlines()) == 2


def test_sweep_knows_the_values_of_some_settings():
    done = lanyard("bench", "barrier", "--sweep", "eager-limit", "--blocks", "1", "--block-seconds", "1e-6",
                   "--json")
    assert done.stdout.count("# LANYARD_EAGER_LIMIT=") == done.stdout.count('"benchmark": "barrier"') == 5


@pytest.mark.parametrize("sweep, told",
                         [("eager-limt=0",
                           "LANYARD_EAGER_LIMT is not a setting of Lanyard, did you mean "
                           "LANYARD_EAGER_LIMIT?"),
                          ("eager-limit=0,999g", "LANYARD_EAGER_LIMIT")])
def test_sweep_over_what_would_not_be_taken_runs_nothing(sweep, told):
    done = lanyard("bench", "barrier", "--sweep", sweep)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr, done.stderr


def test_doctor_knows_interfaces_that_are_not_there():
    report = lanyard("doctor", "--json", LANYARD_INTERFACES="eth77")
    assert "LANYARD_INTERFACES names 'eth77'" in report.stdout


def test_sweeps_are_listed():
    done = lanyard("bench", "--sweep")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["eager-limit=0,1024,4096,16384,65536", "progress=caller,auto,helper",
                                        "dgram-progress=engine,thread,hybrid", "connect=lazy,all",
                                        "checksum=off,on", "write-protocol=off,auto,on",
                                        "copies=auto,once,twice"]


@pytest.mark.parametrize("words", [["--sweep"], ["--sweep", "latency"], ["--sweep", "eager-limit="],
                                   ["--sweep", "eager-limit=1,,2"]])
def test_sweep_without_values_is_refused(words):
    done = lanyard("bench", "barrier", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--sweep needs a setting and its values" in done.stderr


def test_bench_lists_its_programs():
    text = lanyard("bench").stdout
    purposes = dict(line.split(maxsplit=1) for line in text.splitlines())
    assert set(BENCHMARKS) | {"applications"} <= set(purposes)
    assert purposes["latency"] == "Half round trip of a message between two ranks, per size."
    assert text in lanyard("bench", "--help").stdout


def test_manual_page_tells_what_help_tells():
    page = lanyard("--manual").stdout
    assert page.startswith(".TH lanyard 1")
    assert "every setting with its default" in page and "lanyard doctor" in page
    assert (BUILD / "share" / "man" / "man1" / "lanyard.1").read_text() == page


def test_algorithms_of_collectives_are_told_with_their_reasons():
    done = lanyard("info", "--coll", "allreduce", "--ranks", "64", "--json")
    rows = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "") and {row["operation"] for row in rows} == {"allreduce"}
    for row in rows:
        assert row["algorithm"] == row["estimates"][0]["algorithm"] and not row["overridden"]
        times = [each["time_us"] for each in row["estimates"]]
        assert times == sorted(times)
    done = lanyard("info", "--coll", "allreduce", "--ranks", "64", "--hosts", "8", "--json")
    rows = json.loads(done.stdout)
    assert done.returncode == 0 and rows[0]["algorithm"].startswith("two_level"), done.stdout
    assert "two_level" not in lanyard("info", "--coll", "--ranks", "64").stdout
    assert re.search("between ranks: ",
                     lanyard("info", "--coll", "--ranks", "3", LANYARD_PATHS="self,tcp").stdout)
    done = lanyard("info", "--coll", "bcast", LANYARD_COLL="bcast:64k=binomial")
    assert ((done.returncode, done.stderr) == (0, "") and
            re.search(r"^bcast +65536 +binomial \(set\) ", done.stdout, re.MULTILINE)), done.stdout
    done = lanyard("info", "--coll")
    words = {line.split()[0] for line in done.stdout.splitlines()}
    assert (done.returncode == 0 and done.stdout.startswith("2 ranks on 1 host, ") and
            {"barrier", "exscan"} <= words)


@pytest.mark.parametrize(("words", "env", "sentence"), [
    (["bcst"], {}, '"bcst" is no collective operation; known are barrier, bcast, '),
    (["bcast", "--ranks", "4", "--hosts", "9"], {},
     "4 ranks cannot be on 9 hosts; --ranks says how many there are"),
    ([], {"LANYARD_COLL": "bcast=tree"},
     'LANYARD_COLL=bcast=tree cannot be used: "tree" is no algorithm for bcast; known are '),
    ([], {"LANYARD_COLL": "bcast:x=binomial"},
     'cannot be used: "bcast:x=binomial" names no number of bytes after the colon'),
])
def test_wrong_collectives_are_refused(words, env, sentence):
    done = lanyard("info", "--coll", *words, **env)
    assert (done.returncode, done.stdout) == (1 if env else 2, "") and sentence in done.stderr
