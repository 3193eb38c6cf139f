#!/usr/bin/env python3
"""Generates docs/coming-from.md, the page for users of other MPI libraries.

    tools/coming_from.py [--build build/release] [--check]

docs/coming-from.toml contains what users of other libraries type, and the explanations beside it. All
statements about Lanyard come from its own commands. mpirun itself shows which spellings it accepts and prints
its messages about all others (it is run with --version in the place of a program). mpirun --help says what
the options do, and lanyard info --settings says what the settings do. So the page is true if it has been
generated since the last change. tests/command/test_coming_from.py checks that it has. With --check nothing is
written, and the exit code is 1 if the page is out of date.
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORDS = ROOT / "docs" / "coming-from.toml"
PAGE = ROOT / "docs" / "coming-from.md"
LIBRARIES = {"ompi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI"}
# Variables of the compiler wrappers, which are not settings of the library.
BESIDE_SETTINGS = "LANYARD_CC", "LANYARD_CXX"


class Trouble(Exception):
    """A sentence for the author of docs/coming-from.toml."""


class Launcher:
    """Reads what mpirun and lanyard of a build report about themselves."""

    def __init__(self, build):
        self.build = build
        self.help = self.run("mpirun", "--help")[1]
        self.options = self.read_options()
        self.settings = self.read_settings()

    def run(self, command, *words, folder=None):
        names = ("LANYARD_", "PMI_", "OMPI_", "MPIEXEC_")
        variables = {name: value for name, value in os.environ.items() if not name.startswith(names)}
        done = subprocess.run([self.build / "bin" / command, *words], capture_output=True, text=True,
                              check=False, cwd=folder,
                              env={**variables, "NAME": "VALUE", "OMP_NUM_THREADS": "2"},
                              stdin=subprocess.DEVNULL, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def read_options(self):
        """Returns {each name of an option, without dashes: (all its names as the help shows them,
        sentence)}."""
        options = {}
        part = self.help.split("Options (one dash or two, as you like):\n")[1].split("\nExit codes:")[0]
        for head, body in re.findall(r"^  (-\S.*)\n((?:      .*\n)+)", part, re.MULTILINE):
            for name in re.findall(r"-+([\w-]+)", head):
                options[name] = head, " ".join(body.split())
        return options

    def read_settings(self):
        """Returns {LANYARD_NAME: (default, sentence)}. It also contains the other variables that mpirun's
        help and the compiler wrappers name."""
        text = self.run("lanyard", "info", "--settings")[1]
        # The type stands before the semicolon.
        rows = re.findall(r"^(LANYARD_\w+)=(.*)\n    [^;]*; (.*)$", text, re.MULTILINE)
        settings = {name: (value, body) for name, value, body in rows}
        environment = self.help.split("\nEnvironment")[1]
        for name in (*re.findall(r"\b[A-Z][A-Z_]+[A-Z]\b", environment), *BESIDE_SETTINGS):
            settings.setdefault(name, ("", ""))
        return settings

    def judge(self, words):
        """Returns an empty string if mpirun accepts these words before a program, otherwise mpirun's
        message."""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "hosts").write_text("a slots=4\nb slots=4\n")
            code, _, err = self.run("mpirun", *words, "--version", folder=folder)
        if code == 0:
            return ""
        return err.strip().removeprefix("mpirun: ")


def show(launcher, spelling, sentences):
    """Returns a spelling as the table shows it. If mpirun refuses the spelling, mpirun's message is added to
    `sentences`."""
    sentence = launcher.judge(shlex.split(spelling))
    if not sentence:
        return f"`{spelling}`"
    # The message says more than that there is no such option.
    if not sentence.endswith("; see mpirun --help"):
        sentences.setdefault(sentence, {})[spelling] = None
    return f"~~`{spelling}`~~"


def cell(text):
    return text.replace("|", "\\|") or " "


def code_cell(text):
    return f"`{text}`".replace("|", "\\|")


def option_rows(launcher, words, sentences):
    for row in words["option"]:
        theirs = [", ".join(show(launcher, spelling, sentences) for spelling in row[library])
                  for library in LIBRARIES]
        here, sentence = "", ""
        if row["here"]:
            if row["here"] not in launcher.options:
                raise Trouble(
                    f"mpirun has no option {row['here']}, which {WORDS.name} names for \"{row['what']}\"")
            here, sentence = launcher.options[row["here"]]
        told = " ".join(part for part in (f"`{here}`: {sentence}".replace("|", "\\|") if here else "",
                                          row["words"]) if part)
        yield [row["what"], *map(cell, theirs), told]


def variable_rows(launcher, words):
    for row in words["variable"]:
        told = []
        for name in row["here"]:
            option = launcher.options.get(name.lstrip("-")) if name.startswith("-") else None
            if not option and name not in launcher.settings:
                raise Trouble(
                    f"{name}, which {WORDS.name} names for \"{row['what']}\", is neither a setting nor an "
                    "option")
            sentence = (option or launcher.settings[name])[1].rstrip(".")
            told.append(f"`{name}`" + (f": {sentence}" if sentence else ""))
        here = " ".join(part for part in (", ".join(told) + "." if told else "", row["words"]) if part)
        yield [row["what"], ", ".join(f"`{name}`" for name in row["theirs"]), cell(here)]


def table(head, rows):
    return "\n".join(["| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *rows)]) + "\n"


def examples(launcher, words):
    text = ""
    for example in words["example"]:
        settings, command, typed = re.fullmatch(r"((?:[A-Z_]+=\S+ )*)(mpirun|mpiexec) (.*) \./program",
                                                example["here"]).groups()
        if sentence := launcher.judge(shlex.split(typed)):
            raise Trouble(f"\"{example['here']}\" is not understood by {command}: {sentence}")
        for name in re.findall(r"(LANYARD_\w+)", settings + typed):
            if name not in launcher.settings:
                raise Trouble(f"\"{example['here']}\" names {name}, which is no setting")
        text += (f"{example['of']}:\n\n```sh\n{example['typed']}\n```\n\n"
                 f"Here:\n\n```sh\n{example['here']}\n```\n\n")
        text += textwrap.fill(example["words"], 110) + "\n\n" if example["words"] else ""
    return text


def make_page(launcher):
    words = tomllib.loads(WORDS.read_text())
    sentences = {}
    options = table(["", *LIBRARIES.values(), "here"], list(option_rows(launcher, words, sentences)))
    named = {row["here"] for row in words["option"]}
    forgotten = ({head for name, (head, _) in launcher.options.items()} -
                 {launcher.options[name][0] for name in named if name})
    forgotten -= {launcher.options[name][0] for name in ("help", "env", "rr")}
    if forgotten:
        raise Trouble(f"{WORDS.name} has no row for these options of mpirun: {', '.join(sorted(forgotten))}")
    refused = table(["what is refused",
                     "message of `mpirun`, if it is more than that there is no such option"],
                    [[", ".join(map(code_cell, spellings)), cell(sentence)]
                     for sentence, spellings in sentences.items()])
    return ("<!-- Made by tools/coming_from.py of docs/coming-from.toml and of what mpirun and lanyard say: "
            f"""do not edit. -->
# Coming from another MPI library

Programs built for MPICH or Intel MPI run on Lanyard as they are. Programs built for Open MPI must be compiled
again with `mpicc`. Start all of them with Lanyard's `mpirun` (or `mpiexec`), which understands most options
of the other libraries' commands, with one dash or two.

{examples(launcher, words)}## Options

`mpirun` refuses what is ~~struck out~~: it prints a message and starts nothing. All other spellings work as
they are.

{options}
{refused}
## Variables

Lanyard ignores the variables of other libraries unless the table says otherwise. Variables that a launcher
sets for its ranks (`PMI_...`, `PMIX_...` and `OMPI_...`) are not passed on to a job that a rank starts.
Lanyard checks its own settings and reports an unknown name.

{table(["", "elsewhere", "here"], list(variable_rows(launcher, words)))}
`lanyard info --settings` lists all settings, with their defaults and what the environment changes.
""")


def main():
    parser = argparse.ArgumentParser(description="Makes docs/coming-from.md.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release",
                        help="the build folder to ask")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit code 1 where the page is not in step")
    wish = parser.parse_args()
    try:
        page = make_page(Launcher(wish.build.absolute()))
    except Trouble as trouble:
        sys.exit(f"tools/coming_from.py: {trouble}")
    if not wish.check:
        PAGE.write_text(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        sys.exit("docs/coming-from.md is not in step with mpirun and its words: run tools/coming_from.py")


if __name__ == "__main__":
    main()
