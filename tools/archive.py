"""Files of package registries, fetched by version and hash into build/downloads."""
import hashlib
import pathlib
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOWNLOADS = ROOT / "build" / "downloads"
# The second one keeps what the first has replaced by a later version.
DEBIAN = ("http://deb.debian.org/debian/", "http://snapshot.debian.org/archive/debian/20261101T000000Z/")


class Unavailable(Exception):
    """The file is nowhere to be had; the text says why."""


def digest_of(content):
    return hashlib.sha256(content).hexdigest()


def fetch(place, digest, archives=DEBIAN):
    """The path of a copy of archive/place with that SHA-256."""
    file = DOWNLOADS / pathlib.PurePath(place).name
    if file.exists() and digest_of(file.read_bytes()) == digest:
        return file
    problems = []
    for archive in archives:
        try:
            with urllib.request.urlopen(archive + place, timeout=60) as answer:
                content = answer.read()
        except OSError as error:
            problems.append(f"{archive}{place}: {error}")
            continue
        if digest_of(content) == digest:
            DOWNLOADS.mkdir(parents=True, exist_ok=True)
            unfinished = file.with_suffix(".unfinished")
            unfinished.write_bytes(content)
            unfinished.rename(file)
            return file
        problems.append(f"{archive}{place}: its SHA-256 is {digest_of(content)}, not {digest}")
    raise Unavailable("; ".join(problems))
