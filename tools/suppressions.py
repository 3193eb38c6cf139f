"""Suppressions of warnings, for tools/tidy.py: each gives its reason on its line, and they are few.

A suppression is a NOLINT comment, a pragma or option that turns a warning off, or a check that .clang-tidy
leaves out (a line '# -CHECK: reason' there, and '-CHECK' in its list). Files that generators write are not
read.
"""
import re

MOST = 30  # all suppressions together
CHECKS = ".clang-tidy"
NOLINT = re.compile(r"\bNOLINT(NEXTLINE|BEGIN)?\b(?P<rest>.*)")
REASONED = re.compile(r"\((?!\*)[\w.,\- ]+\): \S.{9,}")
WARNING_OFF = re.compile(r'diagnostic\s+ignored\s+"-W|(?<![\w-])-Wno-[a-z]')
LEFT_OUT = re.compile(r"^# (-[\w.*-]+): \S.{9,}$")


def in_code(sources):
    """Yields (path, line number, sentence or None) of each suppression in these (path, text)."""
    for path, text in sources:
        for number, line in enumerate(text.splitlines(), 1):
            if found := NOLINT.search(line):
                good = REASONED.match(found["rest"])
                yield path, number, None if good else "write NOLINT(CHECK): and the reason on its line"
            elif WARNING_OFF.search(line):
                good = re.search(r"(//|#) \S.{9,}$", line)
                yield path, number, None if good else "a warning is turned off without a reason on its line"


def left_out(text):
    """Yields (line number, sentence or None) of each check that .clang-tidy leaves out."""
    reasons = {found[1] for line in text.splitlines() if (found := LEFT_OUT.match(line))}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("#"):
            for check in re.findall(r"(?<![\w-])-[a-z][\w.*-]+", line):
                if check != "-*":
                    yield number, None if check in reasons else f"{check} is left out without a reason"


def findings(sources, checks):
    """Yields (path, line number, sentence). `sources`: (path, text) of code. `checks`: .clang-tidy's text."""
    every = [*in_code(sources), *((CHECKS, number, words) for number, words in left_out(checks))]
    for path, number, words in every:
        if words:
            yield path, number, words
    if len(every) > MOST:
        yield CHECKS, 1, f"{len(every)} suppressions of warnings; at most {MOST}"
