#!/usr/bin/env python3
"""Checks the style rules (CONTRIBUTING.md) that a program can check; part of 'make test'.

    tools/tidy.py [--root DIR]
    tools/tidy.py --sizes   prints the largest classes and headers of src instead (tools/sizes.py)

The rules limit the length of files and functions, the size of classes, the width of lines in code and pages,
and the number of virtual functions of the interface Path. They forbid includes against the order of the
layers, goto, all but a few macros, settings that nothing uses, and notes about work to be done later. They
require '#pragma once' in headers, tests for each module (tools/tested_by.py), and reasons for suppressed
warnings (tools/suppressions.py). Pages and comments may name only files that exist.
The script prints one line for each finding, and exits with 1 if there are any.

tools/tidy_exemptions.txt, if it exists, lists known findings, one on each line: 'rule path', 'rule path:name'
or, for a name in any file, 'rule :name'. An exemption that is no longer needed, or that is not in the first
version of the list, is a finding too, so the list only shrinks. A class that is to stay large is defended in
ARCHITECTURE.md instead, under "Large classes".
"""
import argparse
import ast
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import c_text  # noqa: E402
import class_sizes  # noqa: E402
import named_paths  # noqa: E402
import page_text  # noqa: E402
import sizes  # noqa: E402
import suppressions  # noqa: E402
import tested_by  # noqa: E402

# Layers, lowest first; a file may include its own folder and folders of lower rows.
LAYERS = (("base",), ("config",), ("net", "datatype", "bootstrap"), ("path",), ("engine",), ("p2p",),
          ("coll",), ("comm", "tool"), ("rma",), ("io",), ("runtime",), ("api",), ("doors",))
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
# Folders outside the library, with the folders that they may include. CROSSINGS lists the few other headers
# that they may include.
BESIDE = {"launch": ("base", "config", "bootstrap"), "tools": ("base", "config"),
          "programs": ("base", "config")}
CROSSINGS = {
    ("tools", "api/generated/coverage.h"),  # lanyard info --coverage
    ("tools", "net/address.h"),             # lanyard info --paths
    ("tools", "coll/select.h"),             # lanyard info --coll
    ("tools", "path/shm/segment.h"),        # lanyard doctor computes how much memory two ranks need
    ("tools", "net/fabric.h"),              # lanyard doctor tries the datagram endpoints
    ("tools", "net/udp_packets.h"),
    ("tools", "launch/plan.h"),             # lanyard bench -n has the same limit as mpirun
    ("launch", "coll/select.h"),            # mpirun checks LANYARD_COLL before ranks start
    ("launch", "net/address.h"),            # and LANYARD_INTERFACES
    ("launch", "path/shm/segment.h"),       # mpirun computes how much memory the ranks of a host need
    ("programs", "tools/command_line.h"),
    *(("programs", header) for header in (  # lanyard bench memory measures the library's own tables
        "engine/engine.h", "engine/process_idle.h", "net/system_sockets.h", "net/udp_packets.h",
        "p2p/messenger.h", "path/dgram/dgram_path.h", "path/tcp/tcp_path.h")),
}
PROGRAMS = "bench/programs/"  # this folder has the rules of src, but its headers are named from the root
MACROS = {"LANYARD_MUST", "LANYARD_HANDLE_KIND", "LANYARD_ENTRY", "SETTING"}  # no others without need
FEATURE_MACROS = {"_GNU_SOURCE", "_POSIX_C_SOURCE", "_DEFAULT_SOURCE"}

# These layers may include path.h and its optional parts, but no header of a particular path.
ABOVE_PATHS = ("engine", "p2p", "coll")
# The class that every path implements, and the most virtual functions that it may have.
INTERFACE, INTERFACE_FUNCTIONS_MAX = ("src/path/path.h", "Path"), 15

FILE_LINES_WARN, FILE_LINES_MAX, FUNCTION_LINES_MAX, WIDTH_MAX = 400, 500, 70, 110
ONE_LINK = re.compile(r"[\s#/*-]*(?:<?https?://\S+|!?\[[^\]]*\]\([^)]*\)|\[[^\]]+\]:\s+\S+)\W*$")
SIZED_FOLDERS = ("src/p2p/", "src/path/", "src/engine/", "src/coll/")  # where classes have a limit
METHODS_MAX, MEMBERS_MAX = 40, 20
LARGE_CLASSES = "## Large classes"  # the section of ARCHITECTURE.md with a line '- `Name`: why' for each
C_SUFFIXES = {".c", ".cc", ".h", ".hpp", ".inc"}
FOLDERS = ("src", "tests", "tools", "api", "bench", "examples", ".ci")


class Finding:
    def __init__(self, rule, path, line, text, name=""):
        self.rule, self.path, self.line, self.text, self.name = rule, path, line, text, name

    def exemptions(self):
        return {f"{self.rule} {self.path}", f"{self.rule} {self.path}:{self.name}",
                f"{self.rule} :{self.name}"}


def check_c(path, text, source_root):
    code = c_text.stripped(text)
    lines = code.splitlines()
    for name, line, length in c_text.functions(code):
        if length > FUNCTION_LINES_MAX:
            words = f"{name} has {length} lines; a function fits on a screen ({FUNCTION_LINES_MAX})"
            yield Finding("function-length", path, line, words, name)
    for number, line in enumerate(lines, 1):
        if re.search(r"\bgoto\b", line):
            yield Finding("goto", path, number, "goto is not used here")
        defined = re.match(r"\s*#\s*define\s+(\w+)", line)
        if defined and is_source(path) and defined.group(1) not in MACROS | FEATURE_MACROS:
            words = (f"macro {defined.group(1)} is not on the list in tools/tidy.py: "
                     "prefer a function or constant")
            yield Finding("macro", path, number, words, defined.group(1))
    if path.endswith(".h") and is_source(path) and "#pragma once" not in text:
        yield Finding("pragma-once", path, 1, "a header has '#pragma once'")
    if is_source(path):
        yield from check_includes(path, text, source_root)
    if path == INTERFACE[0]:
        yield from check_interface(path, code)


def interface_functions(code):
    """The number of virtual functions of the interface."""
    found = re.search(rf"^class {INTERFACE[1]} \{{(.*?)^\}};", code, re.DOTALL | re.MULTILINE)
    return len(re.findall(r"\bvirtual\b", found.group(1))) if found else 0


def check_interface(path, code):
    functions = interface_functions(code)
    if not 0 < functions <= INTERFACE_FUNCTIONS_MAX:
        words = f"class {INTERFACE[1]} has {functions} virtual functions; at most {INTERFACE_FUNCTIONS_MAX}"
        yield Finding("interface", path, 1, words)


def is_source(path):
    return path.startswith(("src/", PROGRAMS))


def check_includes(path, text, source_root):
    folder = path.split("/")[1]
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not found:
            continue
        target = found.group(1)
        if not any((root / target).exists() for root in (source_root, source_root.parent)):
            words = f'"{target}" is not a path from src/ (or does not exist)'
            yield Finding("include", path, number, words, target)
        elif not may_include(folder, target):
            words = f"{folder} may not include {target}: see the layers in ARCHITECTURE.md"
            yield Finding("include", path, number, words, target)


def may_include(folder, target):
    if folder in ABOVE_PATHS and re.match(r"path/[^/]+/", target):
        return False
    other = "programs" if target.startswith(PROGRAMS) else target.split("/")[0]
    if other == folder or (folder, target) in CROSSINGS:
        return True
    if folder in BESIDE:
        return other in BESIDE[folder]
    return folder in RANK and other in RANK and RANK[other] < RANK[folder]


def check_python(path, text):
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        yield Finding("syntax", path, error.lineno or 1, f"not Python: {error.msg}")
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = node.end_lineno - node.lineno + 1
            if length > FUNCTION_LINES_MAX:
                words = f"{node.name} has {length} lines; a function fits on a screen ({FUNCTION_LINES_MAX})"
                yield Finding("function-length", path, node.lineno, words, node.name)


def check_width(path, lines):
    """`lines`: (number, line)."""
    for number, line in lines:
        if len(line) > WIDTH_MAX and not ONE_LINK.match(line):
            yield Finding("width", path, number, f"{len(line)} columns; at most {WIDTH_MAX}")


def check_text(path, text):
    lines = text.splitlines()
    if len(lines) > FILE_LINES_MAX:
        yield Finding("file-length", path, 1, f"{len(lines)} lines; at most {FILE_LINES_MAX}")
    yield from check_width(path, enumerate(lines, 1))
    for number, line in enumerate(lines, 1):
        if re.search(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b", line):
            yield Finding("note", path, number, "notes to come back later belong into an issue")


def check_settings(root):
    """Checks that every declared setting is read somewhere outside src/config."""
    name = "src/config/settings.inc"
    if not (root / name).exists():
        return
    members = re.findall(r"^SETTING\([\w:]+, (\w+),", (root / name).read_text(), re.MULTILINE)
    if not members:
        yield Finding("setting", name, 1, "no setting was found")
    sources = [path for path in (root / "src").rglob("*")
               if path.suffix in C_SUFFIXES and "config" not in path.parts]
    used = "\n".join(c_text.stripped(path.read_text(errors="replace")) for path in sources)
    for member in members:
        if not re.search(rf"(\.|->){member}\b", used):
            yield Finding("setting", name, 1, f"setting '{member}' is not used anywhere", member)


def large_classes(path, text):
    """Yields a finding for each class of this file that exceeds the limits."""
    for size in class_sizes.class_sizes(c_text.without_preprocessor(c_text.stripped(text))):
        if size.methods > METHODS_MAX or size.members > MEMBERS_MAX:
            words = (f"{size.name} has {size.methods} methods and {size.members} data members; at most "
                     f'{METHODS_MAX} and {MEMBERS_MAX}, or a line in ARCHITECTURE.md, "Large classes"')
            yield Finding("class-size", path, size.line, words, size.name)


def check_large_classes(root, large):
    """Yields the findings in `large` whose classes ARCHITECTURE.md does not defend. Also yields a finding for
    each class that ARCHITECTURE.md defends although the class is not large."""
    page = root / "ARCHITECTURE.md"
    defended = {}
    if page.exists():
        lines = page.read_text().splitlines()
        begin = lines.index(LARGE_CLASSES) + 1 if LARGE_CLASSES in lines else len(lines)
        for number, line in enumerate(lines[begin:], begin + 1):
            if line.startswith("## "):
                break
            if found := re.match(r"- `([\w:]+)`: \S", line):
                defended[found.group(1)] = number
    for finding in large:
        if finding.name not in defended:
            yield finding
    for name in defended.keys() - {finding.name for finding in large}:
        words = f"{name} is no large class (any more): take its line out"
        yield Finding("class-size", page.name, defended[name], words, name)


def check_pages(root):
    """Checks that pages have narrow lines and name only files that exist."""
    for page in sorted({*root.glob("*.md"), *root.glob(".github/**/*.md"), *root.glob("docs/*.md"),
                        *root.glob("docs/internals/*.md"), *root.glob("bench/results/*.md"),
                        *root.glob("*/README.md"), *root.glob("[!.]*/*/README.md")}):
        if page.is_relative_to(root / "build"):
            continue
        path, text = page.relative_to(root).as_posix(), page.read_text()
        if not is_generated(path, text):
            yield from check_width(path, page_text.text_lines(text))
        for number, words, name in named_paths.in_page(root, path, text):
            yield Finding("page", path, number, words, name)


def check_comments(root, sources):
    """Checks that comments name only files that exist. `sources`: (path, text) of the code."""
    names = named_paths.base_names([*(path for path, _ in sources),
                                    *(page.name for page in root.glob("*.md"))])
    for path, text in sources:
        if pathlib.PurePath(path).suffix in C_SUFFIXES and not is_generated(path, text):
            for number, words, name in named_paths.in_comments(root, path, text, names):
                yield Finding("comment", path, number, words, name)


def check_tested_by(root, sources):
    """Checks that each module of src has tests. They are found by the module's name, or a comment names
    them."""
    written = [(path, text) for path, text in sources if not is_generated(path, text)]
    for path, number, words, name in tested_by.findings(root, written, [path for path, _ in sources]):
        yield Finding("tested-by", path, number, words, name)


def check_suppressions(root, sources):
    """Checks that each suppression of a warning gives its reason, and that there are few."""
    written = [(path, text) for path, text in sources if not is_generated(path, text) and (
        pathlib.PurePath(path).suffix in C_SUFFIXES or path.endswith("CMakeLists.txt"))]
    main = root / "CMakeLists.txt"
    written += [(main.name, main.read_text())] if main.exists() else []
    checks = root / suppressions.CHECKS
    for path, number, words in suppressions.findings(written, checks.read_text() if checks.exists() else ""):
        yield Finding("suppression", path, number, words)


def is_generated(path, text):
    begin = "\n".join(text.splitlines()[:5])
    return ("generated" in path.split("/") or
            re.search("generated by|do not edit", begin, re.IGNORECASE) is not None)


def files(root):
    """(path from the root, text) of every text file in FOLDERS that git does not ignore."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", *FOLDERS],
                            capture_output=True, text=True, check=False)
    names = listed.stdout.splitlines() if listed.returncode == 0 else [
        str(path.relative_to(root)) for folder in FOLDERS for path in (root / folder).rglob("*")]
    for name in sorted(set(names)):
        path = root / name
        if path.is_file() and not path.is_symlink():
            try:
                yield name, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def is_python(path, text):
    return path.endswith(".py") or text.startswith("#!/usr/bin/env python3")


def is_code(path, text):
    suffix = pathlib.PurePath(path).suffix
    return (suffix in C_SUFFIXES | {".py", ".sh", ".cmake"} or path.endswith("CMakeLists.txt") or
            text.startswith("#!"))


def findings_in(root):
    warnings, findings, large = [], [], []
    sources = list(files(root))
    for path, text in sources:
        if path.endswith(".toml"):  # rows of data may be wide, comments may not
            lines = enumerate(text.splitlines(), 1)
            findings += check_width(path, [(number, line) for number, line in lines if line.startswith("#")])
        if is_generated(path, text) or not is_code(path, text):
            continue
        findings += check_text(path, text)
        if FILE_LINES_WARN < len(text.splitlines()) <= FILE_LINES_MAX:
            warnings.append(f"{path}: {len(text.splitlines())} lines; {FILE_LINES_WARN} are a good size")
        if pathlib.PurePath(path).suffix in C_SUFFIXES:
            findings += check_c(path, text, root / "src")
            large += large_classes(path, text) if path.startswith(SIZED_FOLDERS) else []
        elif is_python(path, text):
            findings += check_python(path, text)
    for check in (check_settings(root), check_large_classes(root, large), check_pages(root),
                  check_comments(root, sources), check_tested_by(root, sources),
                  check_suppressions(root, sources)):
        findings += check
    return findings, warnings


def read_exemptions(text):
    return [line.split("#")[0].strip() for line in text.splitlines() if line.split("#")[0].strip()]


def first_exemptions(root, name):
    """Returns the list of exemptions as it was first committed, or None if git's history does not contain the
    list."""
    added = subprocess.run(["git", "-C", root, "log", "--diff-filter=A", "--format=%H", "--", name],
                           capture_output=True, text=True, check=False)
    if added.returncode != 0 or not added.stdout.split():
        return None
    shown = subprocess.run(["git", "-C", root, "show", f"{added.stdout.split()[-1]}:{name}"],
                           capture_output=True, text=True, check=False)
    return read_exemptions(shown.stdout) if shown.returncode == 0 else None


def apply_exemptions(root, findings):
    """Returns the findings that no exemption covers, and a finding for each exemption that is stale or
    new."""
    name = "tools/tidy_exemptions.txt"
    listed = read_exemptions((root / name).read_text()) if (root / name).exists() else []
    covered = {exemption for finding in findings for exemption in finding.exemptions()}
    remaining = [finding for finding in findings if not finding.exemptions() & set(listed)]
    first = first_exemptions(root, name)
    for exemption in listed:
        if exemption not in covered:
            remaining.append(Finding("exemption", name, 1, f"'{exemption}' is no longer needed: take it out"))
        elif first is not None and exemption not in first:
            remaining.append(Finding("exemption", name, 1, f"'{exemption}' is new: the list only shrinks"))
    return remaining


def print_sizes(root):
    written = [(path, c_text.without_preprocessor(c_text.stripped(text))) for path, text in files(root)
               if path.startswith("src/") and pathlib.PurePath(path).suffix in C_SUFFIXES
               and not is_generated(path, text)]
    functions = sum(interface_functions(code) for path, code in written if path == INTERFACE[0])
    print(sizes.report(written))
    print(f"{functions} virtual functions: class {INTERFACE[1]} of {INTERFACE[0]}")


def main():
    parser = argparse.ArgumentParser(description="check the style rules a machine can see")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--sizes", action="store_true",
                        help="print the largest classes and headers of src, and check nothing")
    options = parser.parse_args()
    if options.sizes:
        print_sizes(options.root)
        return
    findings, warnings = findings_in(options.root)
    for warning in warnings:
        print(f"warning: {warning}")
    remaining = apply_exemptions(options.root, findings)
    for finding in remaining:
        print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.text}")
    sys.exit(1 if remaining else 0)


if __name__ == "__main__":
    main()
