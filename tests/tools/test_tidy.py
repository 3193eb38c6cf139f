"""Tests that tools/tidy.py finds each kind of offence, and finds nothing in clean text."""
import pathlib
import subprocess
import sys

import pytest

TIDY = pathlib.Path(__file__).resolve().parents[2] / "tools" / "tidy.py"
SETTINGS = 'SETTING(bool, check, false, user,\n        "a sentence",\n        .changes = true)\n'
USER = "#pragma once\ninline bool user(const Settings &s) { return s.check; }\n"
STATEMENTS = "    ++x;\n" * 80


def large_class(name, methods=0, members=0):
    text = "".join(f"    int method_{i}(int a, int b);\n"
                   for i in range(methods)) + "".join(f"    int field_{i}_ = 0;\n" for i in range(members))
    return f"#pragma once\nclass {name} {{\n{text}}};\n"


class Tree:
    """A small repository, clean at first. Each module of src has a test of its name."""

    def __init__(self, root):
        self.root = root
        self.write("src/config/settings.inc", SETTINGS)
        self.write("src/engine/engine.h", USER)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if name.startswith("src/") and path.suffix in (".h", ".cc"):
            self.write(f"tests/unit/{path.relative_to(self.root / 'src').with_suffix('')}_test.cc", "")

    def git(self, *arguments):
        identity = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
        subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True)

    def tidy(self, *options):
        command = [sys.executable, TIDY, "--root", self.root, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def test_clean_text_passes_silently(tree):
    assert tree.tidy() == (0, "")


VIRTUALS = "class Path {\n" + "    virtual int f();  // virtual\n" * 16 + ("};\nclass Other {\n    virtual "
                                                                           "int f();\n};\n")
# Rule, file, text, words of the finding.
OFFENCES = [
    ("include", "src/base/a.h", '#pragma once\n#include "engine/engine.h"\n',
     "base may not include engine/engine.h"),
    ("include", "src/net/a.h", '#pragma once\n#include "datatype/b.h"\n', "datatype/b.h"),
    ("include", "src/launch/a.cc", '#include "engine/engine.h"\n', "launch may not include engine/engine.h"),
    ("include", "src/engine/a.cc", '#include "engine.h"\n', "not a path from src/"),
    ("include", "src/p2p/a.cc", '#include "path/one/c.h"\n', "p2p may not include path/one/c.h"),
    ("interface", "src/path/path.h", "#pragma once\n" + VIRTUALS,
     "class Path has 16 virtual functions; at most 15"),
    ("interface", "src/path/path.h", "#pragma once\nclass Way;\n", "class Path has 0 virtual functions"),
    ("function-length", "src/base/a.cc", f"int long_one(int x) {{\n{STATEMENTS}    return x;\n}}\n",
     "long_one has 83 lines"),
    ("function-length", "src/base/a.cc",
     f"namespace n {{\nstruct S {{\n    S() : x(0) {{\n{STATEMENTS}    }}\n    int x;\n}};\n}}\n",
     "S has 82 lines"),
    ("function-length", "tools/a.py", "def long_one(x):\n" + "    x += 1\n" * 80, "long_one has 81 lines"),
    ("file-length", "src/base/a.cc", "int x;\n" * 501, "501 lines"),
    ("width", "src/base/a.cc", "// " + "x" * 108 + "\n", "111 columns"),
    ("width", "tests/unit/a.cc", "// " + "x" * 108 + "\n", "111 columns"),
    ("width", "tools/a.py", "x = '" + "x" * 105 + "'\n", "111 columns; at most 110"),
    ("width", "api/a.toml", "# " + "x" * 109 + "\n", "111 columns"),
    ("width", "README.md", "x" * 111 + "\n", "111 columns"),
    ("width", "docs/internals/where.md", "```\n```\n- see https://a.example/ " + "x" * 86 + "\n",
     "111 columns"),
    ("width", "bench/README.md", "List:\n- one\n    " + "x" * 107 + "\n", "111 columns"),
    ("goto", "src/base/a.cc", "void f() {\nagain:\n    goto again;\n}\n", "goto is not used here"),
    ("macro", "src/base/a.cc", "#define TWICE(x) ((x) * 2)\n", "macro TWICE"),
    ("pragma-once", "src/base/a.h", "int x;\n", "#pragma once"),
    ("note", "src/base/a.cc", "// TO" + "DO: later\n", "an issue"),
    ("setting", "src/config/settings.inc", SETTINGS + 'SETTING(int64_t, spare, 0, user, "nobody reads it")\n',
     "setting 'spare' is not used"),
    ("setting", "src/config/settings.inc", "// empty\n", "no setting was found"),
    ("class-size", "src/p2p/a.h", large_class("Wide", methods=41), "Wide has 41 methods and 0 data members"),
    ("class-size", "src/path/tcp/a.cc", large_class("Deep", members=21),
     "Deep has 0 methods and 21 data members"),
    ("class-size", "ARCHITECTURE.md", "## Large classes\n\n- `Gone`: it was needed.\n",
     "Gone is no large class (any more)"),
    ("page", "docs/internals/where.md", "Matching: `src/p2p/gone.h`.\n", "there is no src/p2p/gone.h"),
    ("page", "docs/internals/where.md", "Settings: `src/config/settings.inc: gone()`.\n",
     "src/config/settings.inc has no gone"),
    ("page", "README.md", "See `src/engine/gone.h`.\n", "there is no src/engine/gone.h"),
    ("tested-by", "src/base/a.h", "// Tested by: tests/unit/gone.\n#pragma once\n",
     "there is no test tests/unit/gone"),
    ("comment", "src/base/a.cc", "int x;  // see engine/gone.h\n", "a comment names engine/gone.h"),
    ("comment", "src/base/a.h", "// See gone.cc.\n#pragma once\n", "a comment names gone.cc"),
]


@pytest.mark.parametrize(("rule", "name", "text", "words"), OFFENCES,
                         ids=[f"{rule}-{number}" for number, (rule, *_) in enumerate(OFFENCES)])
def test_offence_is_found(tree, rule, name, text, words):
    tree.write("src/datatype/b.h", "#pragma once\n")
    tree.write("src/path/one/c.h", "#pragma once\n")
    tree.write(name, text)
    code, output = tree.tidy()
    assert code == 1
    assert f"{name}:" in output and f": {rule}: " in output and words in output
    assert len(output.splitlines()) == 1


def test_words_in_comments_and_strings_are_no_code(tree):
    tree.write("src/base/a.cc",
               '// goto considered\nconst char *text = "goto { #define";\nint n = 1\'000;\n/* { { */\n')
    assert tree.tidy() == (0, "")


def test_long_initialisers_and_types_are_no_functions(tree):
    tree.write("src/base/a.cc", "const int table[] = {\n" + "    f(1),\n" * 90 + "};\nstruct S {\n" +
               "    int f(int);\n" * 90 + "};\n")
    assert tree.tidy() == (0, "")


def test_lower_layers_may_be_included(tree):
    tree.write("src/p2p/a.cc", '#include "engine/engine.h"\n#include <vector>\n')
    assert tree.tidy() == (0, "")


def test_paths_may_be_known_by_their_interface(tree):
    tree.write("src/path/path.h",
               "#pragma once\n" + VIRTUALS.replace("    virtual int f();  // virtual\n", "", 1))
    tree.write("src/path/one/c.h", "#pragma once\n#include \"path/path.h\"\n")
    tree.write("src/p2p/a.cc", '#include "path/path.h"\n')
    tree.write("src/runtime/a.cc", '#include "path/one/c.h"\n')
    assert tree.tidy() == (0, "")


def test_tables_code_and_links_in_pages_may_be_wide(tree):
    wide = "x" * 111
    tree.write("README.md", f"| {wide} |\n\n```\n{wide}\n\n{wide}\n```\n\n    {wide}\n\n    {wide}\n")
    tree.write("docs/a.md", f"- <https://a.example/{wide}>\n[a](b#{wide}).\n\n[a]: https://a.example/{wide}")
    tree.write("docs/b.md", f"<!-- Made by tools/coming_from.py: do not edit. -->\n{wide}\n")
    assert tree.tidy() == (0, "")


def test_data_and_links_in_code_may_be_wide(tree):
    tree.write("api/a.toml", f"words = \"{'x' * 111}\"\n")
    tree.write("src/base/a.cc", f"// https://a.example/{'x' * 100}\n")
    assert tree.tidy() == (0, "")


def test_generated_files_are_not_judged(tree):
    tree.write("src/api/generated/a.cc", "// " + "x" * 300 + "\n")
    tree.write("src/doors/a.cc", "// Generated by api/generate from api/p2p.toml.\n// " + "x" * 300 + "\n")
    assert tree.tidy() == (0, "")


def test_an_exemption_covers_and_goes_stale(tree):
    tree.write("src/base/a.cc", "#define TWICE(x) ((x) * 2)\n")
    tree.write("tools/tidy_exemptions.txt", "macro src/base/a.cc:TWICE  # reason\n")
    assert tree.tidy() == (0, "")
    tree.write("src/base/a.cc", "int x;\n")
    code, output = tree.tidy()
    assert code == 1 and "'macro src/base/a.cc:TWICE' is no longer needed" in output


def test_exemptions_only_shrink(tree):
    tree.git("init", "-q")
    tree.write("tools/tidy_exemptions.txt", "macro src/base/a.cc:TWICE\n")
    tree.write("src/base/a.cc", "#define TWICE(x) ((x) * 2)\n#define THRICE(x) ((x) * 3)\n")
    tree.git("add", ".")
    tree.git("commit", "-qm", "first")
    tree.write("tools/tidy_exemptions.txt", "macro src/base/a.cc:TWICE\nmacro src/base/a.cc:THRICE\n")
    code, output = tree.tidy()
    assert code == 1 and "'macro src/base/a.cc:THRICE' is new: the list only shrinks" in output


def test_classes_that_are_large_enough_pass(tree):
    tree.write("src/engine/a.h", large_class("Whole", methods=40, members=20))
    tree.write("src/tool/a.h", large_class("Elsewhere", methods=50, members=50))
    assert tree.tidy() == (0, "")


def test_a_large_class_can_be_defended(tree):
    tree.write("src/coll/a.h", large_class("Wide", methods=41))
    tree.write("ARCHITECTURE.md",
               "# A\n\n## Large classes\n\nWords.\n\n- `Wide`: there are as many operations.\n\n"
               "## Other\n\n- `This`: is no defence.\n")
    assert tree.tidy() == (0, "")
    tree.write("ARCHITECTURE.md", "## Large classes\n\n- `Wide`:\n")
    assert tree.tidy()[0] == 1, "no reason, no defence"


def test_an_exemption_holds_wherever_a_class_lies(tree):
    tree.write("tools/tidy_exemptions.txt", "class-size :Wide\n")
    for place in ("src/coll/a.h", "src/engine/b.h"):
        tree.write(place, large_class("Wide", methods=41))
        assert tree.tidy() == (0, "")
        (tree.root / place).unlink()
    assert "'class-size :Wide' is no longer needed" in tree.tidy()[1]


def test_pages_may_name_folders_files_and_what_is_in_them(tree):
    tree.write("docs/internals/map.md",
               "`src/engine/`, `src/engine/engine.h`, `src/engine/engine.h: user()`,\n"
               "`src/engine/engine.h: s.check`, `MPI_Send`, `a / b`\n")
    tree.write("README.md", "`build/release/bin/mpirun`, `src/path/NAME/`, `some/folder/of/yours`\n")
    assert tree.tidy() == (0, "")


def test_comments_may_name_files_that_exist(tree):
    tree.write("src/base/a.cc",
               "// engine.h, engine/engine.h, src/engine/engine.h, <sys/uio.h>, sys/uio.h, mpi.h\nint x;\n")
    tree.write("src/base/b.cc", 'const char *text = "gone.h";\n')
    assert tree.tidy() == (0, "")


def test_a_module_without_tests_is_a_finding(tree):
    (tree.root / "tests/unit/engine/engine_test.cc").unlink()
    code, output = tree.tidy()
    assert code == 1
    assert output.startswith("src/engine/engine.h:1: tested-by: no test is named after this module")
    tree.write("tests/sim/jobs_test.cc", "")
    tree.write("src/engine/engine.h", "// Tested by: tests/sim/jobs_test.cc.\n" + USER)
    (tree.root / "tests/unit/engine/engine_test.cc").unlink()
    assert tree.tidy() == (0, "")


def test_sizes_are_printed_where_they_are_asked_for(tree):
    fifteen = VIRTUALS.replace("    virtual int f();  // virtual\n", "", 1)
    tree.write("src/path/path.h", "#pragma once\n" + fifteen)
    for number in range(12):
        text = large_class(f"Size{number}", methods=number + 20, members=1)
        tree.write(f"src/tool/size_{number}.h", text.replace("class", "struct"))
    tree.write("src/tool/hidden.cc", large_class("Hidden", methods=3, members=90))
    tree.write("src/api/generated/wide.h", large_class("Generated", methods=200))
    code, output = tree.tidy("--sizes")
    lines = output.splitlines()
    assert code == 0 and len(lines) == 24
    assert lines[1:3] == ["     3 methods   90 data members  Hidden (src/tool/hidden.cc)",
                          "    31 methods    1 data members  Size11 (src/tool/size_11.h)"]
    assert lines[10] == "    23 methods    1 data members  Size3 (src/tool/size_3.h)"
    assert lines[13] == "    32 names  src/tool/size_11.h" and lines[22] == "    23 names  src/tool/size_2.h"
    assert lines[23] == "15 virtual functions: class Path of src/path/path.h"
    assert tree.tidy() == (0, ""), "sizes are printed only where they are asked for"
