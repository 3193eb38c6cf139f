"""Tests mpicc, mpicxx, mpic++ and the pkg-config files: what they add, what they print, and that build
systems find them. Programs are compiled and linked against the build named by LANYARD_BUILD, which must
contain the library."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get(
    "LANYARD_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build" / "release")).absolute()
BIN = BUILD / "bin"
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
int main(int count, char **words) {
    int rank, size;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%d of %d\\n", rank, size);
    return MPI_Finalize();
}
"""
# The wrappers run without the compilers that the test driver may have chosen.
PLAIN = {name: value for name, value in os.environ.items()
         if name not in ("LANYARD_CC", "LANYARD_CXX", "CC", "CXX", "LD_LIBRARY_PATH")}


def run(*words, env=None, cwd=None, check=True):
    done = subprocess.run([str(word) for word in words], env={**PLAIN, **(env or {})}, cwd=cwd,
                          capture_output=True, text=True, timeout=300, check=False)
    assert not check or done.returncode == 0, done
    return done


def answer(wrapper, *words, **keywords):
    done = run(BIN / wrapper, *words, **keywords)
    assert done.stderr == ""
    return done.stdout.rstrip("\n")


WRAPPERS = [("mpicc", "cc"), ("mpicxx", "c++"), ("mpic++", "c++")]
COMPILE = f"-I{BUILD}/include"
LINK = f"-L{BUILD}/lib -Wl,-rpath,{BUILD}/lib -Wl,--enable-new-dtags -lmpi_abi"


@pytest.mark.parametrize(("wrapper", "compiler"), WRAPPERS)
@pytest.mark.parametrize(("question", "expected"), [
    ("-show", "{compiler} {compile} {link}"),
    ("--showme", "{compiler} {compile} {link}"),
    ("-showme", "{compiler} {compile} {link}"),
    ("--showme:command", "{compiler}"),
    ("--showme:compile", "{compile}"),
    ("-showme:compile", "{compile}"),
    ("--showme:link", "{link}"),
    ("--showme:incdirs", f"{BUILD}/include"),
    ("--showme:libdirs", f"{BUILD}/lib"),
    ("--showme:libs", "mpi_abi"),
    ("-compile-info", "{compiler} {compile} -c"),
    ("-link-info", "{compiler} {link}"),
])
def test_questions(wrapper, compiler, question, expected):
    assert answer(wrapper, question) == expected.format(compiler=compiler, compile=COMPILE, link=LINK)


def test_version_of_the_wrapper():
    assert re.match(r"mpicc: Lanyard \d+\.\d+\.\d+ \(Language: C\)$", answer("mpicc", "--showme:version"))
    both = answer("mpicc", "--version").splitlines()
    # Build systems look for the compiler's own text.
    assert "Free Software Foundation" in " ".join(both) or "clang" in both[0]
    assert re.match(r"mpicc of Lanyard \d", both[-1])


def test_help():
    text = answer("mpicxx", "--help")
    assert "Usage: mpicxx" in text and "LANYARD_CXX" in text and "-compile-info" in text


def test_unknown_question_is_refused():
    done = run(BIN / "mpicc", "--showme:nothing", check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no option --showme:nothing; mpicc --showme:help lists the forms" in done.stderr


def test_show_with_arguments():
    assert answer("mpicc", "-show", "-O2", "-c", "x.c") == f"cc -O2 -c x.c {COMPILE}"
    assert answer("mpicc", "x.c", "-show") == f"cc x.c {COMPILE} {LINK}"


@pytest.mark.parametrize("only", ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"])
def test_no_link_options_without_linking(only):
    assert "-lmpi_abi" not in answer("mpicc", "-show", only, "x.c")


def test_other_compiler():
    assert answer("mpicc", "--showme:command", env={"LANYARD_CC": "gcc -m64"}) == "gcc -m64"
    assert answer("mpicxx", "-show", "-c", "x.cc", env={"LANYARD_CXX": "g++"}) == f"g++ -c x.cc {COMPILE}"
    assert answer("mpicc", "-cc=gcc", "-show", "-c", "x.c") == f"gcc -c x.c {COMPILE}"


def test_compiler_failures_are_passed_on(tmp_path):
    (tmp_path / "bad.c").write_text("int main(void) { return nothing; }\n")
    done = run(BIN / "mpicc", "bad.c", cwd=tmp_path, check=False)
    assert done.returncode == 1 and "nothing" in done.stderr


def test_without_input_nothing_is_linked():
    assert "gcc" in run(BIN / "mpicc", "-v").stderr or "clang" in run(BIN / "mpicc", "-v").stderr
    assert answer("mpicc", "-dumpmachine") != ""


def test_arguments_with_spaces(tmp_path):
    (tmp_path / "a b.c").write_text('#include <stdio.h>\nint main(void) { puts(TEXT); return 0; }\n')
    run(BIN / "mpicc", "-c", '-DTEXT="two words"', "a b.c", "-o", "a b.o", cwd=tmp_path)
    run("gcc", "a b.o", "-o", "plain", cwd=tmp_path)
    assert run("./plain", cwd=tmp_path).stdout == "two words\n"


def test_found_through_a_link_and_after_moving(tmp_path):
    moved = tmp_path / "moved folder"
    (moved / "bin").mkdir(parents=True)
    shutil.copy(BIN / "mpicc", moved / "bin" / "mpicc")
    (tmp_path / "link").symlink_to(moved / "bin" / "mpicc")
    assert run(tmp_path / "link", "--showme:incdirs").stdout == f'"{moved}/include"\n'
    assert run("link", "--showme:libdirs",
               env={"PATH": f"{tmp_path}:{PLAIN['PATH']}"}).stdout == f'"{moved}/lib"\n'


def test_folders_with_blanks_are_shown_as_a_shell_reads_them(tmp_path):
    """A shell must be able to execute the output of -show, with arguments of the user's own."""
    moved = tmp_path / 'a "moved" folder of $5'
    (moved / "bin").mkdir(parents=True)
    shutil.copy(BIN / "mpicc", moved / "bin" / "mpicc")

    def words(*question):
        shown = run(moved / "bin" / "mpicc", *question).stdout
        return run("sh", "-c", f"printf '%s\\n' {shown}").stdout.splitlines()

    compile, link = [f"-I{moved}/include"], [f"-L{moved}/lib", f"-Wl,-rpath,{moved}/lib",
                                             "-Wl,--enable-new-dtags", "-lmpi_abi"]
    assert words("-show", '-DTEXT="two words"', "a b.c") == ["cc", '-DTEXT="two words"', "a b.c", *compile,
                                                             *link]
    assert (words("--showme:compile"), words("--showme:link")) == (compile, link)
    assert (words("--showme:incdirs"), words("--showme:libdirs")) == ([f"{moved}/include"], [f"{moved}/lib"])
    assert (words("-compile-info"), words("-link-info")) == (["cc", *compile, "-c"], ["cc", *link])


def test_list_of_the_forms():
    lines = answer("mpicc", "--showme:help").splitlines()
    forms = [line for line in lines if line.startswith("-")]
    names = ["command", "compile", "link", "incdirs", "libdirs", "libs", "version", "help"]
    assert forms == ["-show, -showme", *(f"-showme:{name}" for name in names)]
    assert all(line.startswith("      ") for line in lines if line not in forms)


@pytest.mark.parametrize("words", [["x.c"], ["-c", "x.c"], ["--version"], ["-v"]], ids=" ".join)
def test_compiler_that_is_not_there(words):
    done = run(BIN / "mpicc", *words, env={"LANYARD_CC": "nosuch -m64"}, check=False)
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr == ("mpicc: LANYARD_CC=nosuch -m64 cannot be used: there is no program nosuch; name a "
                           "C compiler that is installed\n")


def test_compiler_option_that_names_nothing():
    done = run(BIN / "mpicxx", "-cxx=nosuch", "x.cc", check=False)
    assert (done.returncode == 127 and
            done.stderr.startswith("mpicxx: -cxx=nosuch cannot be used: there is no program nosuch; "))


def test_system_folders_are_not_named(tmp_path):
    """In /usr the compiler finds everything itself. So a copy of mpicc whose prefix is /usr must add no
    folders."""
    text = (BIN / "mpicc").read_text().replace("prefix=${prefix%/*}", "prefix=/usr", 1)
    (tmp_path / "mpicc").write_text(text)
    assert run("sh", tmp_path / "mpicc", "-show", "x.c").stdout.split() == ["cc", "x.c", "-lmpi_abi"]


# With the library -----------------------------------------------------------------------------------------

def check_runs(program, mpirun, ranks=3):
    code, out, err = mpirun.run("-n", ranks, program)
    assert (code, err) == (0, "")
    assert sorted(out.splitlines()) == [f"{rank} of {ranks}" for rank in range(ranks)]


def build_in(folder, wrapper, suffix):
    (folder / f"program{suffix}").write_text(PROGRAM)
    subprocess.run([BIN / wrapper, f"program{suffix}", "-o", "program"], cwd=folder, check=True, timeout=300)
    return folder / "program"


@pytest.mark.parametrize(("wrapper", "suffix"), [("mpicc", ".c"), ("mpicxx", ".cc"), ("mpic++", ".cpp")])
def test_program(tmp_path, mpirun, wrapper, suffix):
    check_runs(build_in(tmp_path, wrapper, suffix), mpirun)


def test_program_has_a_runpath_and_no_rpath(tmp_path):
    dynamic = run("readelf", "-d", build_in(tmp_path, "mpicc", ".c")).stdout
    assert f"(RUNPATH)            Library runpath: [{BUILD}/lib]" in dynamic
    assert "(RPATH)" not in dynamic
    assert "libmpi_abi.so.1" in dynamic and "liblanyard" not in dynamic


def test_compiled_and_linked_apart(tmp_path, mpirun):
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run([BIN / "mpicc", "-c", "program.c"], cwd=tmp_path, check=True, timeout=300)
    subprocess.run([BIN / "mpicc", "program.o", "-o", "program"], cwd=tmp_path, check=True, timeout=300)
    check_runs(tmp_path / "program", mpirun)


@pytest.mark.parametrize(("package", "compiler", "suffix"),
                         [("mpi-c", "LANYARD_CC", ".c"), ("mpi-cxx", "LANYARD_CXX", ".cc")])
def test_pkg_config(tmp_path, mpirun, package, compiler, suffix):
    path = {"PKG_CONFIG_PATH": str(BUILD / "lib" / "pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", package, env=path).stdout.split()
    assert [flag.split("/")[0] for flag in flags] == ["-I", "-L", "-lmpi_abi", "-Wl,-rpath,",
                                                      "-Wl,--enable-new-dtags"]
    (tmp_path / f"program{suffix}").write_text(PROGRAM)
    words = os.environ.get(compiler, "gcc" if suffix == ".c" else "g++").split()
    subprocess.run([*words, f"program{suffix}", *flags, "-o", "program"], cwd=tmp_path, check=True,
                   timeout=300)
    check_runs(tmp_path / "program", mpirun)
    assert run(tmp_path / "program").returncode == 0  # also without mpirun
    # A program whose link command has lost these flags has no RUNPATH. Under mpirun it must run nevertheless,
    # because mpirun sets LD_LIBRARY_PATH.
    subprocess.run([*words, f"program{suffix}", *flags[:3], "-o", "bare"], cwd=tmp_path, check=True,
                   timeout=300)
    check_runs(tmp_path / "bare", mpirun)


CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(consumer C CXX)
find_package(MPI REQUIRED COMPONENTS C CXX)
message(STATUS "found ${MPI_C_LIBRARIES} version ${MPI_C_VERSION}")
add_executable(program program.c)
target_link_libraries(program MPI::MPI_C)
add_executable(programxx programxx.cc)
target_link_libraries(programxx MPI::MPI_CXX)
"""


def configure(folder, *options, env=None):
    (folder / "CMakeLists.txt").write_text(CMAKE)
    (folder / "program.c").write_text(PROGRAM)
    (folder / "programxx.cc").write_text(PROGRAM)
    compilers = [f"-DCMAKE_{name}_COMPILER={words.split()[0]}"
                 for name, words in (("C", os.environ.get("LANYARD_CC", "gcc")),
                                    ("CXX", os.environ.get("LANYARD_CXX", "g++")))]
    flags = " ".join(os.environ.get("LANYARD_CC", "gcc").split()[1:])
    done = run("cmake", "-S", folder, "-B", folder / "out", *compilers, f"-DCMAKE_C_FLAGS={flags}",
               f"-DCMAKE_CXX_FLAGS={flags}", *options, env=env)
    run("cmake", "--build", folder / "out")
    return done.stdout


def test_cmake_finds_the_wrappers(tmp_path, mpirun):
    out = configure(tmp_path, env={"PATH": f"{BIN}:{PLAIN['PATH']}"})
    assert str(BUILD / "lib" / "libmpi_abi.so") in out
    assert "version 5.0" in out
    check_runs(tmp_path / "out" / "program", mpirun)
    check_runs(tmp_path / "out" / "programxx", mpirun)


def test_cmake_compiles_with_the_wrappers(tmp_path, mpirun):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(direct C)\nadd_executable(program program.c)\n")
    (tmp_path / "program.c").write_text(PROGRAM)
    keep = {name: os.environ[name] for name in ("LANYARD_CC",) if name in os.environ}
    run("cmake", "-S", tmp_path, "-B", tmp_path / "out", f"-DCMAKE_C_COMPILER={BIN / 'mpicc'}", env=keep)
    run("cmake", "--build", tmp_path / "out", env=keep)
    check_runs(tmp_path / "out" / "program", mpirun)


def test_installed_folder_may_be_moved(tmp_path, mpirun):
    run("cmake", "--install", BUILD, "--prefix", tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "second place")
    prefix = tmp_path / "second place"
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run([prefix / "bin" / "mpicc", "program.c", "-o", "program"], cwd=tmp_path, check=True,
                   timeout=300)
    code, out, err = mpirun.run("-n", 3, tmp_path / "program", launcher=prefix / "bin" / "mpiexec")
    assert (code, sorted(out.splitlines()), err) == (0, ["0 of 3", "1 of 3", "2 of 3"], "")
    assert f"Library runpath: [{prefix}/lib]" in run("readelf", "-d", tmp_path / "program").stdout
    (tmp_path / "consumer").mkdir()
    found = configure(tmp_path / "consumer", env={"PATH": f"{prefix}/bin:{PLAIN['PATH']}"})
    assert f"found {prefix}/lib/libmpi_abi.so version 5.0" in found
    check_runs(tmp_path / "consumer" / "out" / "program", mpirun)
    needed = run("ldd", tmp_path / "program").stdout
    assert (f"{prefix}/lib/libmpi_abi.so.1" in needed and
            f"{prefix}/lib/liblanyard.so.0" in needed.replace("/./", "/"))
