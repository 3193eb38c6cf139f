"""Finds the lines of a page that are text, not code or table rows. Used by tools/tidy.py.

Code is what is between two fences, and indented code: lines with four spaces or more after an empty line.
A line that begins with two braces is an instruction for bench/report.
"""
import re

FENCE = re.compile(r"\s*(```|~~~)")
INDENT = "    "


def text_lines(page):
    """Yields (number, line) of each line that is text."""
    fence, is_code, is_after_blank = "", False, True
    for number, line in enumerate(page.splitlines(), 1):
        mark = FENCE.match(line)
        if mark and fence in ("", mark.group(1)):
            fence = "" if fence else mark.group(1)
            continue
        is_blank = not line.strip()
        is_code = line.startswith(INDENT) and (is_code or is_after_blank) or (is_blank and is_code)
        is_after_blank = is_blank
        if not (fence or is_code or line.lstrip().startswith(("|", "{{"))):
            yield number, line
