"""Reads C and C++ text without a compiler: replaces what is no code by blanks, and finds the bodies of
functions. Used by tools/tidy.py.
"""
import re


def stripped(text):
    """Returns C or C++ text in which blanks replace comments, strings and character constants. The number of
    lines stays the same."""
    def blank(match):
        found = match.group(0)
        return re.sub(r"[^\n]", " ", found) if found.startswith("/") else '""' + "\n" * found.count("\n")
    pattern = (r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
               r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'")
    return re.sub(pattern, blank, text, flags=re.DOTALL)


def without_preprocessor(code):
    """Replaces directives by blanks, so that braces in macros do not count."""
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda found: "\n" * found.group(0).count("\n"), code,
                  flags=re.MULTILINE)


def functions(code):
    """Yields (name, first line, lines) of every function body in stripped C++ text. A body begins with an
    opening brace outside any function. The statement before the brace has parentheses, and is no type,
    namespace or initialiser."""
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
    is_type = re.match(r"\s*(class|struct|union)\b", head)
    if is_type and not re.search(r"\)\s*(const|noexcept|override)*\s*$", head):
        return False
    before_parameters = head.split("(", 1)[0]
    return "=" not in before_parameters or "operator" in before_parameters


def function_name(head):
    found = re.search(r"([~\w:]+|operator\s*\S+)\s*\(", head)
    return found.group(1) if found else "?"
