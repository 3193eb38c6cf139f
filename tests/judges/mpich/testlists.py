"""The lists of tests in MPICH's suite: which programs run, with how many ranks, and what counts as success.

A line of a list names a program or a folder, a number of ranks, and fields such as arg=, env=, timeLimit= and
resultTest=. Pure functions over text.
"""
import dataclasses
import re

DEFAULT_RANKS = 2
DEFAULT_SECONDS = 180
NO_ERRORS = re.compile(r"^\s*No [Ee]rrors\s*$")
# What a program may print besides the line that reports no errors.
HARMLESS = re.compile(r"^\s*(Test Passed|No [Ee]rrors)?\s*$")


@dataclasses.dataclass(frozen=True)
class Test:
    folder: str
    program: str
    ranks: int = DEFAULT_RANKS
    arguments: tuple = ()
    environment: tuple = ()  # NAME=VALUE
    seconds: int = DEFAULT_SECONDS
    result: str = ""         # resultTest: how the outcome is judged
    extension: bool = False  # not a test of the standard
    memory_gb: int = 0
    mpiexec: tuple = ()

    @property
    def path(self):
        return f"{self.folder}/{self.program}"

    @property
    def name(self):
        """Folder, program, ranks, and what else distinguishes it from other tests of the same program."""
        return " ".join([self.path, str(self.ranks), *self.environment, *self.arguments])


def parse_line(folder, line):
    """The test that a line describes, or None."""
    words = re.sub(r"#.*", "", line).split()
    if not words or words[0].startswith("!"):
        return None
    ranks = int(words[1]) if len(words) > 1 and words[1].isdigit() else DEFAULT_RANKS
    pairs = [word.partition("=")[::2] for word in words[1:] if "=" in word]
    every = {name: [value for key, value in pairs if key == name] for name in ("arg", "env", "mpiexecarg")}
    last = dict(pairs)
    extension = last.get("strict", "").lower() == "false" or last.get("mpix", "").lower() == "true"
    return Test(folder, words[0], ranks, tuple(every["arg"]), tuple(every["env"]),
                int(last.get("timeLimit", DEFAULT_SECONDS)), last.get("resultTest", ""), extension,
                int(float(last.get("mem", 0))), tuple(every["mpiexecarg"]))


def complaint(test, status, output):
    """Why a run of the test counts as failed, or '' if it passed. `status`: mpirun's exit code."""
    lines = output.splitlines()
    said_no_errors = any(NO_ERRORS.match(line) for line in lines)
    if test.result == "TestStatus":
        expected = "it should have ended with an exit code other than 0"
        return "" if status != 0 and not said_no_errors else expected
    if test.result == "TestErrFatal":
        return "" if status != 0 else "an error that is fatal should have ended it"
    if test.result == "TestStatusNoErrors":
        expected = "it should say 'No Errors' and end with an exit code other than 0"
        return "" if status != 0 and said_no_errors else expected
    if test.result:
        return f"the list judges it by {test.result}, which is not known here"
    if status != 0:
        return f"exit code {status}"
    if not said_no_errors:
        return "it did not say 'No Errors'"
    strange = [line for line in lines if not HARMLESS.match(line)]
    return f"unexpected output: {strange[0]}" if strange else ""
