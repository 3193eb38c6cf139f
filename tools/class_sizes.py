"""Counts the sizes of the classes of a C++ file, and the number of names that a header offers to the files
that include it.

The size of a class is two numbers: of its methods, and of its data members.

This is a small reader of declarations, not a compiler. It relies on the code of this repository, which has no
macros that declare members. It counts the functions that a class declares, except those that are '= default'
or '= delete', and its data members, except static ones. A nested class counts separately, as 'Outer::Inner'.
The contents of an unnamed union or struct count as members of the class around it.

The names that a header offers are the public functions and data members of its classes, static ones included,
and the functions and variables outside classes. A nested class in a private section offers no names.
"""
import dataclasses
import re

LABEL = re.compile(r"^\s*(public|protected|private)\s*:(?!:)")
NO_MEMBER = re.compile(r"^\s*(?:using|typedef|friend|static_assert|enum|namespace|extern)\b")
TYPE = re.compile(r"^\s*(?:typedef\s+)?(class|struct|union)\b([^()=;]*)$")


@dataclasses.dataclass
class ClassSize:
    name: str
    line: int
    methods: int = 0
    members: int = 0
    offered: int = 0
    is_offered: bool = True  # the class can be named from outside
    is_open: bool = True  # and code outside can use the section that is being read


def without_templates(text):
    """Returns the text in which blanks replace template arguments and parameters, attributes and
    alignas()."""
    text = re.sub(r"operator\s*(?:\(\s*\)|[^\s\w(]+)", "operator_", text).replace("->", " ")
    text = re.sub(r"\[\[.*?\]\]", " ", text, flags=re.DOTALL)
    text = re.sub(r"\b(?:alignas|decltype|noexcept|explicit)\s*\((?:[^()]|\([^()]*\))*\)", " ", text)
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>;{}]*>", " ", text)
    return re.sub(r"\b(?:template|requires)\b", " ", text)


def is_function(statement):
    """Returns True if a declaration without templates declares a function: its first parenthesis opens the
    parameters."""
    before, parenthesis, after = statement.partition("(")
    return (bool(parenthesis) and "=" not in before and re.search(r"\w\s*$", before) is not None and
            not re.match(r"\s*[*&]|\s*\w+::\*", after))


def split_at_commas(text):
    depth, parts, start = 0, [], 0
    for position, mark in enumerate(text):
        depth += (mark in "([{") - (mark in ")]}")
        if mark == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]


class Reader:
    def __init__(self, code):
        self.code, self.found = code, []
        self.outside = ClassSize("", 1)  # counts what belongs to no class

    def closing(self, opening):
        depth = 0
        for found in re.compile(r"[{}]").finditer(self.code, opening):
            depth += 1 if found.group(0) == "{" else -1
            if depth == 0:
                return found.start()
        return len(self.code)

    def read(self, start, end, owner):
        """Reads the declarations between two positions. They belong to the class `owner`, or to a namespace
        if `owner` is None."""
        head, position, parentheses = "", start, 0
        while position < end:
            mark = self.code[position]
            parentheses += (mark == "(") - (mark == ")")
            if mark == "{":
                closed = self.closing(position)
                head = "" if parentheses == 0 and self.body(head, position, closed, owner) else head + " {} "
                position = closed
            elif mark == ";" and parentheses == 0:
                self.declaration(head, owner or self.outside)
                head = ""
            else:
                head += mark
                label = LABEL.match(head) if mark == ":" and owner else None
                if label and self.code[position + 1:position + 2] != ":":
                    owner.is_open = owner.is_offered and label.group(1) == "public"
                    head = ""
            position += 1

    def body(self, head, opening, closed, owner):
        """Handles the braces after `head`. Returns True if they end the declaration."""
        plain = without_templates(head)
        if re.match(r"\s*(?:inline\s+)?namespace\b|\s*extern\s*\"\"\s*$", plain):
            self.read(opening + 1, closed, None)
            return True
        if kind := TYPE.match(plain):
            self.type(kind.group(1), kind.group(2), opening, closed, owner)
            return False  # a declarator may follow
        if NO_MEMBER.match(plain) or not is_function(plain) or is_initialiser(plain):
            return False
        self.function(plain, owner or self.outside)
        return True

    def function(self, plain, owner):
        declared = not re.search(r"=\s*(?:default|delete)\s*$", plain)
        owner.methods += declared
        # True for a method that is defined outside its class: A::f().
        is_of_a_class = re.search(r"::\s*~?\w+\s*$", plain.partition("(")[0]) is not None
        owner.offered += declared and owner.is_open and not is_of_a_class

    def type(self, kind, rest, opening, closed, owner):
        name = re.match(r"\s*((?:\w+::)*\w*)", rest).group(1)
        if not name and owner:
            return self.read(opening + 1, closed, owner)
        outer = f"{owner.name}::" if owner else ""
        is_offered = owner is None or owner.is_open
        size = ClassSize(f"{outer}{name}", self.code.count("\n", 0, opening) + 1, is_offered=is_offered,
                         is_open=is_offered and kind != "class")
        self.found.append(size)
        return self.read(opening + 1, closed, size)

    def declaration(self, head, owner):
        plain = re.sub(r"^extern\s+(?:\"\"\s*)?", "", without_templates(head).strip())
        if kind := re.match(r"(?:class|struct|union)\b[^{}]*\{\}(.*)$", plain, re.DOTALL):
            plain = f"type {kind.group(1).strip()}" if kind.group(1).strip() else ""
        if not plain or NO_MEMBER.match(plain) or re.match(r"(?:class|struct|union)\s+\w+$", plain):
            return
        if is_function(plain):
            self.function(plain, owner)
            return
        declared = len(split_at_commas(plain))
        owner.offered += declared if owner.is_open else 0
        if not re.match(r"(?:inline\s+|constexpr\s+|mutable\s+)*static\b", plain):
            owner.members += declared


def is_initialiser(function):
    """Returns True if braces after this text belong to a member in a constructor's list: 'A() : a_(1),
    b_'."""
    after = function[function.find("("):]
    depth = 0
    for position, mark in enumerate(after):
        depth += (mark == "(") - (mark == ")")
        if mark == ")" and depth == 0:
            tail = after[position + 1:]
            return (re.match(r"\s*(?:noexcept\b)?\s*:(?!:)", tail) is not None and
                    re.search(r"\w\s*$", tail) is not None)
    return False


def read(code):
    reader = Reader(code)
    reader.read(0, len(code), None)
    return reader


def class_sizes(code):
    """Returns the sizes of all classes in C++ text in which blanks replace comments, strings and
    directives."""
    return read(code).found


def names_offered(code):
    """Returns how many names a header offers to the files that include it. `code` is its text in the same
    form."""
    reader = read(code)
    return reader.outside.offered + sum(size.offered for size in reader.found)
