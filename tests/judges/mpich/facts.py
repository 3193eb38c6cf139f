"""What is known about MPICH's suite beforehand (facts.toml): which folders wait for missing functions, which
tests run with options of mpirun, and which may fail. Pure functions over the table.
"""
import re

# How a compiler, a linker and the library itself name a function that is missing.
MISSING = re.compile(r"implicit declaration of function .P?(MPI_\w+)|undefined reference to .P?(MPI_\w+)|"
                     r"\b(MPI_\w+) is not implemented in Lanyard")


class Facts:
    def __init__(self, table, missing=()):
        """`missing`: the names of the functions that this library lacks."""
        self.missing = frozenset(missing)
        self.source = table["source"]
        self.waiting = table.get("waiting", {})
        self.adopted = tuple(table.get("adopted", ()))
        self.renamed = table.get("renamed", {})
        self.reasons = {}
        self.sometimes = set()  # the tests with a reason that may also pass
        self.options = {}
        for entry in table.get("may_fail", ()):
            self.reasons.update(dict.fromkeys(entry["tests"], entry["why"]))
            if entry.get("sometimes"):
                self.sometimes.update(entry["tests"])
        for entry in table.get("run_with", ()):
            self.options.update(dict.fromkeys(entry["tests"], tuple(entry["options"])))

    def definitions(self):
        """The preprocessor options that give functions of older standards their present names."""
        return [f"-D{old}={new}" for old, new in self.renamed.items()]

    def is_standard(self, test):
        """Whether a test is one of the standard, or its list says wrongly that it is not."""
        return not test.extension or test.path.startswith(self.adopted)

    def waits_for(self, folder):
        """The missing function that the tests of a folder need, or None."""
        for parent, function in self.waiting.items():
            if function in self.missing and f"{folder}/".startswith(f"{parent}/"):
                return function
        return None

    def named_as_missing(self, text):
        """The first function that the output of a compiler or a program names as missing and that the library
        does lack, or None."""
        for match in MISSING.finditer(text):
            name = next(group for group in match.groups() if group)
            if name in self.missing:
                return name
        return None

    def outdated(self, ran, failed):
        """The tests that have a reason to fail, ran and did not fail."""
        return sorted((set(self.reasons) - self.sometimes) & set(ran) - set(failed))
