"""Reads the examples of a page of docs: its code blocks, and the small part of YAML that they use."""
import re
import textwrap


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def indent_of(line):
    return len(line) - len(line.lstrip())


class Yaml:
    """Mappings, lists, words and blocks of lines ('|'). Each level is indented further than the one around
    it."""

    def __init__(self, text):
        self.lines = [line for line in text.splitlines() if line.strip()]

    def load(self):
        value = self.node(0)
        assert not self.lines, f"not understood: {self.lines[0]}"
        return value

    def node(self, indent):
        return self.items(indent) if self.lines[0].lstrip().startswith("- ") else self.mapping(indent)

    def here(self, indent):
        return bool(self.lines) and indent_of(self.lines[0]) == indent

    def items(self, indent):
        found = []
        while self.here(indent) and self.lines[0].lstrip().startswith("- "):
            rest = self.lines[0].lstrip()[2:]
            if re.match(r"[\w-]+:( |$)", rest):
                self.lines[0] = " " * (indent + 2) + rest
                found.append(self.mapping(indent + 2))
            else:
                self.lines.pop(0)
                found.append(self.value(rest, indent))
        return found

    def mapping(self, indent):
        found = {}
        while self.here(indent):
            key, colon, rest = self.lines.pop(0).strip().partition(":")
            assert colon and key not in found, f"not understood: {key}"
            found[key] = self.value(rest.strip(), indent)
        return found

    def value(self, rest, indent):
        if rest == "|":
            taken = []
            while self.lines and indent_of(self.lines[0]) > indent:
                taken.append(self.lines.pop(0))
            return textwrap.dedent("\n".join(taken)) + "\n"
        if rest:
            return rest
        return self.node(indent_of(self.lines[0]))
