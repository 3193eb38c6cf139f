#!/usr/bin/env python3
"""Checks what the style page asks for and a machine can see; part of 'make test'.

    tools/tidy.py [--root DIR]

Include direction, file and function length, size of classes, line width, no goto, macro allow-list, no unreferenced
settings, no notes to come back later, '#pragma once', files that pages and comments name. Prints one line a finding and exits 1 when there
is any. tools/tidy_exemptions.txt names known offenders, 'rule path', 'rule path:name' or, wherever it lies, 'rule :name' a
line; an exemption that is no longer needed, or that was not on the list's first version, is a finding too, so the list only
shrinks. A large class that is to stay so is defended in ARCHITECTURE.md instead, under "Large classes".
"""
import argparse
import ast
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import class_sizes  # noqa: E402
import named_paths  # noqa: E402

# Layers, lowest first; a file may include its own folder and folders of lower rows.
LAYERS = (("base",), ("config",), ("net", "datatype", "bootstrap"), ("path",), ("engine",), ("p2p",), ("coll",), ("comm", "rma", "io", "tool"),
          ("runtime",), ("api",), ("doors",))
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
# Beside the layers: what stands outside the library and the few headers through which both meet.
BESIDE = {"launch": ("base", "config", "bootstrap"), "tools": ("base", "config"), "programs": ("base", "config")}
CROSSINGS = {
    ("tools", "api/generated/coverage.h"),  # lanyard info --coverage
    ("tools", "net/address.h"),             # lanyard info --paths
    ("tools", "coll/select.h"),             # lanyard info --coll
    ("tools", "path/shm/segment.h"),        # lanyard doctor knows what two ranks need
    ("tools", "net/fabric.h"),              # lanyard doctor tries the endpoints of datagrams
    ("tools", "net/udp_packets.h"),
    ("tools", "launch/plan.h"),             # lanyard bench -n takes as many as mpirun
    ("launch", "coll/select.h"),            # LANYARD_COLL is judged before ranks start
    ("launch", "net/address.h"),            # and so is LANYARD_INTERFACES
    ("launch", "path/shm/segment.h"),       # the launcher knows what the ranks of a host need
    ("programs", "tools/command_line.h"),
    *(("programs", header) for header in (  # lanyard bench memory measures the library's own tables
        "engine/engine.h", "engine/process_idle.h", "net/system_sockets.h", "net/udp_packets.h", "p2p/messenger.h",
        "path/dgram/dgram_path.h", "path/tcp/tcp_path.h")),
}
PROGRAMS = "bench/programs/"  # which has the rules of src; its headers are named from the root
MACROS = {"LANYARD_MUST", "LANYARD_HANDLE_KIND", "LANYARD_ENTRY", "SETTING"}  # each is worth its price; a new one needs a reason in review
FEATURE_MACROS = {"_GNU_SOURCE", "_POSIX_C_SOURCE", "_DEFAULT_SOURCE"}

ABOVE_PATHS = ("engine", "p2p", "coll")  # know paths by path.h and its optional parts, never one of them
INTERFACE, INTERFACE_FUNCTIONS_MAX = ("src/path/path.h", "Path"), 15  # the page from which a newcomer writes a path

FILE_LINES_WARN, FILE_LINES_MAX, FUNCTION_LINES_MAX, WIDTH_MAX = 400, 500, 70, 150
SOURCE_WIDTH_MAX = 110  # of C++ in src; the rest is to follow
SIZED_FOLDERS = ("src/p2p/", "src/path/", "src/engine/", "src/coll/")  # where classes have a limit
METHODS_MAX, MEMBERS_MAX = 40, 20
LARGE_CLASSES = "## Large classes"  # the section of ARCHITECTURE.md, '- `Name`: why' a line
C_SUFFIXES = {".c", ".cc", ".h", ".hpp", ".inc"}
FOLDERS = ("src", "tests", "tools", "api", "bench", "examples", ".ci")


class Finding:
    def __init__(self, rule, path, line, text, name=""):
        self.rule, self.path, self.line, self.text, self.name = rule, path, line, text, name

    def exemptions(self):
        return {f"{self.rule} {self.path}", f"{self.rule} {self.path}:{self.name}", f"{self.rule} :{self.name}"}


def strip_code(text):
    """C or C++ text with comments, strings and character constants blanked; line structure is kept."""
    def blank(match):
        found = match.group(0)
        return re.sub(r"[^\n]", " ", found) if found.startswith("/") else '""' + "\n" * found.count("\n")
    pattern = r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, blank, text, flags=re.DOTALL)


def without_preprocessor(code):
    """Directives blanked, so that braces in macros do not count."""
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda found: "\n" * found.group(0).count("\n"), code, flags=re.MULTILINE)


def c_functions(code):
    """(name, first line, lines) of every function body in stripped C++ text: an opening brace, outside any function, after a statement with
    parentheses that is neither a type, a namespace nor an initialiser."""
    code = without_preprocessor(code)
    depth_in_function, stack, statement_start = 0, [], 0
    for found in re.finditer(r"[{};]", code):
        mark, position = found.group(0), found.start()
        if mark == "{":
            if depth_in_function:
                depth_in_function += 1
                continue
            head = code[statement_start:position]
            if is_function_head(head):
                first = statement_start + len(head) - len(head.lstrip())
                stack.append(("function", first, function_name(head)))
                depth_in_function = 1
            else:
                stack.append(("other", position, ""))
        elif mark == "}":
            if depth_in_function > 1:
                depth_in_function -= 1
                continue
            depth_in_function = 0
            if stack:
                kind, first, name = stack.pop()
                if kind == "function":
                    line = code.count("\n", 0, first) + 1
                    yield name, line, code.count("\n", first, position) + 1
        if not depth_in_function:
            statement_start = position + 1


def is_function_head(head):
    head = re.sub(r"\[\[.*?\]\]", " ", head)
    head = re.sub(r"^\s*template\s*<[^{]*?>\s*(?=\w)", " ", head)
    if "(" not in head or re.match(r"\s*(extern\s*\"\"\s*$|namespace\b|enum\b)", head):
        return False
    if re.match(r"\s*(class|struct|union)\b", head) and not re.search(r"\)\s*(const|noexcept|override)*\s*$", head):
        return False
    before_parameters = head.split("(", 1)[0]
    return "=" not in before_parameters or "operator" in before_parameters


def function_name(head):
    found = re.search(r"([~\w:]+|operator\s*\S+)\s*\(", head)
    return found.group(1) if found else "?"


def check_c(path, text, source_root):
    code = strip_code(text)
    lines = code.splitlines()
    for name, line, length in c_functions(code):
        if length > FUNCTION_LINES_MAX:
            yield Finding("function-length", path, line, f"{name} has {length} lines; a function fits on a screen ({FUNCTION_LINES_MAX})", name)
    for number, line in enumerate(lines, 1):
        if re.search(r"\bgoto\b", line):
            yield Finding("goto", path, number, "goto is not used here")
        defined = re.match(r"\s*#\s*define\s+(\w+)", line)
        if defined and is_source(path) and defined.group(1) not in MACROS | FEATURE_MACROS:
            yield Finding("macro", path, number, f"macro {defined.group(1)} is not on the list in tools/tidy.py: prefer a function or constant",
                          defined.group(1))
    if path.endswith(".h") and is_source(path) and "#pragma once" not in text:
        yield Finding("pragma-once", path, 1, "a header has '#pragma once'")
    if is_source(path):
        yield from check_includes(path, text, source_root)
    if path == INTERFACE[0]:
        yield from check_interface(path, code)


def check_interface(path, code):
    found = re.search(rf"^class {INTERFACE[1]} \{{(.*?)^\}};", code, re.DOTALL | re.MULTILINE)
    functions = len(re.findall(r"\bvirtual\b", found.group(1))) if found else 0
    if not 0 < functions <= INTERFACE_FUNCTIONS_MAX:
        yield Finding("interface", path, 1, f"class {INTERFACE[1]} has {functions} virtual functions; at most {INTERFACE_FUNCTIONS_MAX}")


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
            yield Finding("include", path, number, f'"{target}" is not a path from src/ (or does not exist)', target)
        elif not may_include(folder, target):
            yield Finding("include", path, number, f"{folder} may not include {target}: see the layers in ARCHITECTURE.md", target)


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
                text = f"{node.name} has {length} lines; a function fits on a screen ({FUNCTION_LINES_MAX})"
                yield Finding("function-length", path, node.lineno, text, node.name)


def check_text(path, text):
    lines = text.splitlines()
    if len(lines) > FILE_LINES_MAX:
        yield Finding("file-length", path, 1, f"{len(lines)} lines; at most {FILE_LINES_MAX}")
    is_cpp = path.startswith("src/") and pathlib.PurePath(path).suffix in C_SUFFIXES
    width = SOURCE_WIDTH_MAX if is_cpp else WIDTH_MAX
    for number, line in enumerate(lines, 1):
        if len(line) > width:
            yield Finding("width", path, number, f"{len(line)} columns; at most {width}")
        if re.search(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b", line):
            yield Finding("note", path, number, "notes to come back later belong into an issue")


def check_settings(root):
    """Every setting that is declared is read somewhere outside src/config."""
    name = "src/config/settings.inc"
    if not (root / name).exists():
        return
    members = re.findall(r"^SETTING\([\w:]+, (\w+),", (root / name).read_text(), re.MULTILINE)
    if not members:
        yield Finding("setting", name, 1, "no setting was found")
    sources = [path for path in (root / "src").rglob("*") if path.suffix in C_SUFFIXES and "config" not in path.parts]
    used = "\n".join(strip_code(path.read_text(errors="replace")) for path in sources)
    for member in members:
        if not re.search(rf"(\.|->){member}\b", used):
            yield Finding("setting", name, 1, f"setting '{member}' is not used anywhere", member)


def large_classes(path, text):
    """A finding for each class of this file that is larger than classes should be."""
    for size in class_sizes.class_sizes(without_preprocessor(strip_code(text))):
        if size.methods > METHODS_MAX or size.members > MEMBERS_MAX:
            words = (f"{size.name} has {size.methods} methods and {size.members} data members; at most {METHODS_MAX} and {MEMBERS_MAX}, "
                     'or a line in ARCHITECTURE.md, "Large classes"')
            yield Finding("class-size", path, size.line, words, size.name)


def check_large_classes(root, large):
    """Of the findings those that ARCHITECTURE.md does not defend, and one for each defence of what is not large."""
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
        yield Finding("class-size", page.name, defended[name], f"{name} is no large class (any more): take its line out", name)


def check_named_paths(root, sources):
    """Pages and comments name files that exist. `sources`: (path, text) of the code."""
    for page in sorted({*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("docs/internals/*.md"), *root.glob("*/README.md")}):
        path = page.relative_to(root).as_posix()
        for number, words, name in named_paths.in_page(root, path, page.read_text()):
            yield Finding("page", path, number, words, name)
    names = named_paths.base_names([*(path for path, _ in sources), *(page.name for page in root.glob("*.md"))])
    for path, text in sources:
        if pathlib.PurePath(path).suffix in C_SUFFIXES and not is_generated(path, text):
            for number, words, name in named_paths.in_comments(root, path, text, names):
                yield Finding("comment", path, number, words, name)


def is_generated(path, text):
    return "generated" in path.split("/") or re.search(r"generated by", "\n".join(text.splitlines()[:5]), re.IGNORECASE) is not None


def files(root):
    """(path from the root, text) of everything we wrote."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", *FOLDERS], capture_output=True, text=True, check=False)
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
    return pathlib.PurePath(path).suffix in C_SUFFIXES | {".py", ".sh", ".cmake"} or path.endswith("CMakeLists.txt") or text.startswith("#!")


def findings_in(root):
    warnings, findings, large = [], [], []
    sources = list(files(root))
    for path, text in sources:
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
    for check in (check_settings(root), check_large_classes(root, large), check_named_paths(root, sources)):
        findings += check
    return findings, warnings


def read_exemptions(text):
    return [line.split("#")[0].strip() for line in text.splitlines() if line.split("#")[0].strip()]


def first_exemptions(root, name):
    """The list as it was first committed, or None where history does not tell."""
    added = subprocess.run(["git", "-C", root, "log", "--diff-filter=A", "--format=%H", "--", name], capture_output=True, text=True, check=False)
    if added.returncode != 0 or not added.stdout.split():
        return None
    shown = subprocess.run(["git", "-C", root, "show", f"{added.stdout.split()[-1]}:{name}"], capture_output=True, text=True, check=False)
    return read_exemptions(shown.stdout) if shown.returncode == 0 else None


def apply_exemptions(root, findings):
    """Findings that no exemption covers, and one for each exemption that is stale or new."""
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


def main():
    parser = argparse.ArgumentParser(description="check the style rules a machine can see")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    findings, warnings = findings_in(options.root)
    for warning in warnings:
        print(f"warning: {warning}")
    remaining = apply_exemptions(options.root, findings)
    for finding in remaining:
        print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.text}")
    sys.exit(1 if remaining else 0)


if __name__ == "__main__":
    main()
