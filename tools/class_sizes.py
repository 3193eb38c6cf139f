"""How large the classes of a C++ file are: methods and data members, each class by itself.

A small reader of declarations, not a compiler: it knows the code of this repository, which has no macros that declare
members. Counted are the functions that a class declares, but for those that are '= default' or '= delete', and its data
members, but for static ones. A nested class counts for itself, as 'Outer::Inner'; what an unnamed union or struct holds
counts for the class around it.
"""
import dataclasses
import re

LABEL = re.compile(r"^\s*(?:public|protected|private)\s*:(?!:)")
NO_MEMBER = re.compile(r"^\s*(?:using|typedef|friend|static_assert|enum|namespace|extern)\b")
TYPE = re.compile(r"^\s*(?:typedef\s+)?(class|struct|union)\b([^()=;]*)$")


@dataclasses.dataclass
class ClassSize:
    name: str
    line: int
    methods: int = 0
    members: int = 0


def without_templates(text):
    """Template arguments and parameters, attributes and alignas() blanked out."""
    text = re.sub(r"operator\s*(?:\(\s*\)|[^\s\w(]+)", "operator_", text).replace("->", " ")
    text = re.sub(r"\[\[.*?\]\]", " ", text, flags=re.DOTALL)
    text = re.sub(r"\b(?:alignas|decltype|noexcept|explicit)\s*\((?:[^()]|\([^()]*\))*\)", " ", text)
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>;{}]*>", " ", text)
    return re.sub(r"\b(?:template|requires)\b", " ", text)


def is_function(statement):
    """Does this declaration, free of templates, declare a function? The first parenthesis is that of its parameters."""
    before, parenthesis, after = statement.partition("(")
    return bool(parenthesis) and "=" not in before and re.search(r"\w\s*$", before) is not None and not re.match(r"\s*[*&]|\s*\w+::\*", after)


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

    def closing(self, opening):
        depth = 0
        for found in re.compile(r"[{}]").finditer(self.code, opening):
            depth += 1 if found.group(0) == "{" else -1
            if depth == 0:
                return found.start()
        return len(self.code)

    def read(self, start, end, owner):
        """The declarations between two places, of a class or, without one, of a namespace."""
        head, position, parentheses = "", start, 0
        while position < end:
            mark = self.code[position]
            parentheses += (mark == "(") - (mark == ")")
            if mark == "{":
                closed = self.closing(position)
                head = "" if parentheses == 0 and self.body(head, position, closed, owner) else head + " {} "
                position = closed
            elif mark == ";" and parentheses == 0:
                if owner:
                    self.declaration(head, owner)
                head = ""
            else:
                head += mark
                if mark == ":" and owner and LABEL.match(head) and self.code[position + 1:position + 2] != ":":
                    head = ""
            position += 1

    def body(self, head, opening, closed, owner):
        """Braces after `head`; True: they end the declaration."""
        plain = without_templates(head)
        if re.match(r"\s*(?:inline\s+)?namespace\b|\s*extern\s*\"\"\s*$", plain):
            self.read(opening + 1, closed, None)
            return True
        if kind := TYPE.match(plain):
            self.type(kind.group(2), opening, closed, owner)
            return False  # a declarator may follow
        if NO_MEMBER.match(plain) or not is_function(plain) or is_initialiser(plain):
            return False
        if owner and not re.search(r"=\s*(?:default|delete)\s*$", plain):
            owner.methods += 1
        return True

    def type(self, rest, opening, closed, owner):
        name = re.match(r"\s*((?:\w+::)*\w*)", rest).group(1)
        if not name and owner:
            return self.read(opening + 1, closed, owner)
        outer = f"{owner.name}::" if owner else ""
        size = ClassSize(f"{outer}{name}", self.code.count("\n", 0, opening) + 1)
        self.found.append(size)
        return self.read(opening + 1, closed, size)

    def declaration(self, head, owner):
        plain = without_templates(head).strip()
        if kind := re.match(r"(?:class|struct|union)\b[^{}]*\{\}(.*)$", plain, re.DOTALL):
            plain = f"type {kind.group(1).strip()}" if kind.group(1).strip() else ""
        if not plain or NO_MEMBER.match(plain) or re.match(r"(?:class|struct|union)\s+\w+$", plain):
            return
        if is_function(plain):
            owner.methods += not re.search(r"=\s*(?:default|delete)$", plain)
        elif not re.match(r"(?:inline\s+|constexpr\s+|mutable\s+)*static\b", plain):
            owner.members += len(split_at_commas(plain))


def is_initialiser(function):
    """Are braces after this text those of a member in a constructor's list: 'A() : a_(1), b_'?"""
    after = function[function.find("("):]
    depth = 0
    for position, mark in enumerate(after):
        depth += (mark == "(") - (mark == ")")
        if mark == ")" and depth == 0:
            tail = after[position + 1:]
            return re.match(r"\s*(?:noexcept\b)?\s*:(?!:)", tail) is not None and re.search(r"\w\s*$", tail) is not None
    return False


def class_sizes(code):
    """Of all classes in C++ text whose comments, strings and directives are blanked."""
    reader = Reader(code)
    reader.read(0, len(code), None)
    return reader.found
