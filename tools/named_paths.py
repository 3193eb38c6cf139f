"""Finds files that the repository's comments and pages name but that do not exist. Used by tools/tidy.py.

In a page, it checks paths in backquotes that begin with a folder of the repository. After such a path and
': ', the page may name something that the file contains. In comments of C++, it checks names that end like a
source file. A name with a folder is resolved from the root, from src, from tests, and from the folders around
the file. A name without a folder may be anywhere.
"""
import pathlib
import re

PAGE_PATH = re.compile(r"`([\w.-]+/[\w./-]*)(?:: ([\w:~.]+)[^`]*)?`")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
FILE_NAME = re.compile(r"(?<![\w./<-])((?:[\w.-]+/)*[\w-]+\.(?:h|cc|inc|toml|md|py))(?![\w/])(?!>)")
SYSTEM = re.compile(r"^(?:sys|linux|netinet|net|arpa|rdma|bits|infiniband)/")  # headers of the system
GIVEN = {"mpi.h"}  # generated, or the system's
PLACEHOLDER = re.compile(r"(?:^|/)[A-Z]{3,}(?:\.\w+)?(?:/|$)")  # src/path/NAME/


def last_word(name):
    return re.split(r"::|\.", name)[-1]


def has_word(text, word):
    return re.search(rf"\b{re.escape(word)}\b", text) is not None


def in_page(root, path, text):
    """Yields (line, what is wrong, name) for each path that the page names and that does not exist."""
    folders = {entry.name for entry in root.iterdir() if entry.is_dir() and entry.name[0] != "."} - {"build"}
    for number, line in enumerate(text.splitlines(), 1):
        for named, word in PAGE_PATH.findall(line):
            if named.split("/")[0] not in folders:
                continue
            target = root / named
            if not target.exists() and not PLACEHOLDER.search(named):
                yield number, f"there is no {named}", named
            elif word and target.is_file() and not has_word(target.read_text(), last_word(word)):
                yield number, f"{named} has no {word}", word


def in_comments(root, path, text, names):
    """Does the same for the comments of a source file. `names` are the names of all files of the repository,
    without folders."""
    starts = (root, root / "src", root / "tests", *(root / path).parents)
    for found in COMMENT.finditer(text):
        for named in FILE_NAME.findall(found.group(0)):
            if named in GIVEN or SYSTEM.match(named):
                continue
            there = any((start / named).exists() for start in starts) if "/" in named else named in names
            if not there:
                yield (text.count("\n", 0, found.start()) + 1,
                       f"a comment names {named}, which does not exist", named)


def base_names(paths):
    return {pathlib.PurePath(path).name for path in paths}
