"""Executes a Dockerfile in a separate Debian (debian.py), because a machine that runs tests may have no
container engine.

It supports the few instructions of Lanyard's own Dockerfile, in their plain forms. It refuses all other
instructions, because to skip one of them would leave it untested.
"""
import fnmatch
import os
import pathlib
import re
import shutil

from debian import PATH, Debian

IMAGES = ("debian:12", "debian:12-slim")  # both are treated as a Debian without further packages


def instructions(text):
    """(word, rest) of each instruction, with continued lines joined and comments left out."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in re.sub(r"\\\n\s*", " ", lines).splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            yield word.upper(), rest.strip()


def left_out(name, patterns):
    """Whether .dockerignore excludes this file, given by its path in the context."""
    folders = [name, *map(str, pathlib.PurePath(name).parents)][:-1]
    return any(fnmatch.fnmatchcase(part, pattern) or
               fnmatch.fnmatchcase(f"/{part}", pattern.replace("**", "*"))
               for part in folders for pattern in patterns)


def patterns_of(text):
    return [line.strip().strip("/") for line in text.splitlines()
            if line.strip() and not line.startswith("#")]


class Stage:
    """Holds what the lines since a FROM have produced: a Debian, variables, a folder and a user."""

    def __init__(self, debian):
        self.debian, self.environment, self.folder, self.user = debian, {}, "/", "root"

    def run(self, text, **keywords):
        """Runs a command as a line of RUN does, or as `docker run` does."""
        keywords = {"environment": self.environment, "user": self.user, "folder": self.folder, **keywords}
        return self.debian.run(["sh", "-c", text], **keywords)


class Build:
    """`docker build` from a context. The stages are folders below `place`, and each starts as a copy of
    `fresh`."""

    def __init__(self, place, context, fresh):
        self.place, self.context, self.fresh = place, context, fresh
        ignore = context / ".dockerignore"
        self.patterns = patterns_of(ignore.read_text()) if ignore.exists() else []
        self.stages = {}
        self.stage = None

    def do(self, text):
        """Executes a whole Dockerfile and returns the last stage."""
        for word, rest in instructions(text):
            step = getattr(self, f"do_{word.lower()}", None)
            assert step, f"{word} is not known here"
            step(rest)
        return self.stage

    def do_from(self, rest):
        image, _, name = rest.partition(" AS ")
        assert image in IMAGES, f"FROM {rest}: the images known here are {IMAGES}"
        name = name or str(len(self.stages))
        self.stage = self.stages[name] = Stage(Debian(self.place / name, self.fresh))

    def do_run(self, rest):
        done = self.stage.run(rest)
        said = done.stdout[-2000:] + done.stderr[-2000:]
        assert done.returncode == 0, f"RUN {rest}: exit code {done.returncode}\n{said}"

    def do_env(self, rest):
        name, value = rest.split("=", 1)
        known = {"PATH": PATH, **self.stage.environment}
        self.stage.environment[name] = re.sub(r"\$\{?(\w+)\}?", lambda match: known[match[1]], value)

    def do_user(self, rest):
        self.stage.user = rest

    def do_workdir(self, rest):
        self.stage.folder = rest
        (self.stage.debian.folder / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def do_copy(self, rest):
        """A folder contributes its contents. A target that ends with a slash is a folder."""
        words = rest.split()
        source = self.context
        if words[0].startswith("--from="):
            source = self.stages[words.pop(0).removeprefix("--from=")].debian.folder
        *names, target = words
        into = self.stage.debian.folder / os.path.join(self.stage.folder, target).lstrip("/")
        for name in names:
            found = source / name.lstrip("/")
            assert found.exists(), f"COPY {rest}: there is no {name}"
            if found.is_dir():
                self.copy_folder(found, into, source == self.context)
            else:
                place = into / found.name if target.endswith("/") else into
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(found, place)

    def copy_folder(self, found, into, of_context):
        def away(folder, names):
            if not of_context:
                return []
            below = {name: str((pathlib.Path(folder) / name).relative_to(self.context)) for name in names}
            return [name for name, path in below.items() if left_out(path, self.patterns)]
        shutil.copytree(found, into, symlinks=True, ignore=away, dirs_exist_ok=True)
