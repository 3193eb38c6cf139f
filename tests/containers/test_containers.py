"""Tests the commands of README.md, docs/installing.md, docs/ci.md and examples/docker/Dockerfile as a new
user types them, each page in a fresh Debian 12 (debian.py).

The tests build Lanyard several times and need a network, root and debootstrap, so only 'make test-containers'
runs them. They copy the working tree into a repository and clone it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import debian  # noqa: E402
import dockerfile  # noqa: E402
import pages  # noqa: E402
import refusals  # noqa: E402

ROOT = HERE.parents[1]
README, INSTALLING, CI = ((ROOT / name).read_text()
                          for name in ("README.md", "docs/installing.md", "docs/ci.md"))
LONG = "LANYARD_TEST_ALL" in os.environ
REASON = debian.missing() if LONG else "it builds Lanyard three times, which 'make test-containers' does"
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "none")
GREETINGS = [f"I am rank {rank} of 4; our ranks add up to 6" for rank in range(4)]
CLONE = "/srv/lanyard"  # the repository that users clone, in each Debian


@pytest.fixture(scope="module")
def fresh():
    return debian.base(ROOT / "build" / "debian")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The folder of the Debians, each of at least half a gigabyte. It is removed at the end."""
    folder = tmp_path_factory.mktemp("containers")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def repository(place):
    """The working tree as a repository with one commit."""
    folder = place / "repository"
    folder.mkdir()
    command = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    git = ["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@localhost"]
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "Begin"]):
        subprocess.run([*git, *words], check=True)
    return folder


def with_clone(folder, fresh, repository):
    made = debian.Debian(folder, fresh)
    shutil.copytree(repository, made.folder / CLONE.lstrip("/"), symlinks=True)
    return made


def hello_in(root, folder, user="root"):
    (root.folder / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
    (root.folder / folder.lstrip("/") / "hello.c").write_text(pages.blocks(README, "c")[0])
    root.run(["chown", "-R", user, folder])


def test_the_first_ten_minutes_of_the_readme(fresh, place, repository):
    """The commands of README up to Python, and those that install, run by root in a Debian with git and
    make."""
    root = with_clone(place / "readme", fresh, repository)
    root.shell("apt-get update && apt-get install --yes --no-install-recommends git make")
    root.shell(f"git clone --quiet {CLONE} /root/clone")
    hello_in(root, "/root/clone")
    part = README[README.index("## Try it"):README.index("## Python")]
    install = INSTALLING[INSTALLING.index("## Installing"):INSTALLING.index("## Compiling and linking")]
    blocks = [*pages.blocks(part, "sh"), *pages.blocks(install, "sh")]
    assert [block.split()[1] for block in blocks] == ["demo", "library", "install"]
    said = root.shell("".join(blocks), folder="/root/clone")
    assert "100 %" in said and (root.folder / "root/clone/heat.png").exists()
    assert sorted(line for line in said.splitlines() if line.startswith("I am")) == GREETINGS


def run_steps(root, steps, environment, hit):
    """Runs the steps of a GitHub job, each in its own shell with the folders that earlier steps added to
    PATH. `hit` says whether the cache was found."""
    names, path, said = [], [], {}
    for step in steps:
        condition = step.get("if", "")
        if "run" not in step or condition == "failure()" or (hit and "cache-hit != 'true'" in condition):
            continue
        values = {**environment, "GITHUB_PATH": "/tmp/github-path"}
        if path:
            values["PATH"] = ":".join([*reversed(path), debian.PATH])
        said[step["name"]] = root.shell(step["run"], folder="/__w/project", environment=values)
        added = root.folder / "tmp/github-path"
        path = added.read_text().split() if added.exists() else []
        names.append(step["name"])
    return names, said


def test_the_jobs_of_the_page_on_ci(fresh, place, repository):
    """Runs GitHub's job with an empty cache, and again on another machine with the cache that the first run
    left. Then runs GitLab's job with the same cache, and the lines for Python."""
    github, gitlab = (pages.Yaml(block).load() for block in pages.blocks(CI, "yaml"))
    steps = github["jobs"]["test"]["steps"]
    cached = steps[2]["with"]["path"]
    settings = {**github["env"], "LANYARD_URL": CLONE, "LANYARD_VERSION": "HEAD"}
    root = with_clone(place / "github", fresh, repository)
    hello_in(root, "/__w/project")
    names, said = run_steps(root, steps, settings, hit=False)
    assert names == ["Packages", "Build Lanyard", "Use Lanyard", "Test"]
    labelled = [f"[{rank}] {line}" for rank, line in enumerate(GREETINGS)]
    assert sorted(said["Test"].splitlines()) == labelled

    again = debian.Debian(place / "github-again", fresh)
    shutil.copytree(root.folder / cached.lstrip("/"), again.folder / cached.lstrip("/"), symlinks=True)
    hello_in(again, "/__w/project")
    names, said = run_steps(again, steps, settings, hit=True)
    assert "Build Lanyard" not in names and sorted(said["Test"].splitlines()) == labelled
    assert again.shell(steps[-1]["run"],
                       environment={"PATH": f"{cached}/bin:{debian.PATH}"}).startswith("Lanyard ")
    [python] = pages.blocks(CI, "sh")
    said = again.shell(python, environment={"PATH": f"{cached}/bin:{debian.PATH}"})
    assert said.count("Hello, World! I am process ") == 4, said

    shutil.copytree(root.folder / cached.lstrip("/"), again.folder / "builds/project/.lanyard", symlinks=True)
    shutil.rmtree(again.folder / cached.lstrip("/"))
    hello_in(again, "/builds/project")
    job = gitlab["test"]
    said = again.shell("\n".join(job["before_script"] + job["script"]), folder="/builds/project",
                       environment=settings)
    assert sorted(line for line in said.splitlines() if line.startswith("[")) == labelled
    assert again.shell("\n".join(job["after_script"]), folder="/builds/project").startswith("Lanyard ")


@pytest.fixture(scope="module")
def image(fresh, place, repository):
    return dockerfile.Build(place, repository,
                            fresh).do((repository / "examples" / "docker" / "Dockerfile").read_text())


def test_the_image_compiles_and_runs_as_an_ordinary_user(image):
    hello_in(image.debian, "/home/user/work", "user")
    done = image.run("id -un; mpicc -o hello hello.c && mpirun -n 4 ./hello", folder="/home/user/work")
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout.splitlines()[0] == "user" and sorted(done.stdout.splitlines()[1:]) == GREETINGS
    assert image.run("mpicc -o hello hello.c", folder="/root").returncode != 0  # the user is not root


# The image is started as Podman and older versions of Docker start it, as `docker run --user` does, as root,
# and without a network.
@pytest.mark.parametrize("how", [{"preexec_fn": refusals.refuse_process_vm_readv}, {"user": "12345"},
                                 {"user": "root"},
                                 {"network": False}], ids=["seccomp", "user", "root", "network"])
def test_programs_run_there_however_it_is_started(image, how):
    hello_in(image.debian, "/srv/work", how.get("user", "user"))
    done = image.run("mpicc -o hello hello.c && mpirun --timeout 60 -n 4 ./hello", folder="/srv/work", **how)
    assert (done.returncode, sorted(done.stdout.splitlines()), done.stderr) == (0, GREETINGS, "")
    done = image.run("mpirun --timeout 60 -n 64 ./hello", folder="/srv/work", **how)
    assert (done.returncode, len(done.stdout.splitlines()), done.stderr) == (0, 64, "")
    done = image.run("lanyard doctor", folder="/srv/work", **how)
    assert (done.returncode, done.stderr) == (0, ""), done
    if "preexec_fn" in how:
        assert re.search("^note +long messages: ", done.stdout, re.MULTILINE), done.stdout


OWNER = """
import sys
sys.path.insert(0, sys.argv[1])
import debian
made = debian.Debian.__new__(debian.Debian)
made.folder, made.network = debian.pathlib.Path(sys.argv[2]), {}
made.run(["sh", "-c", "setsid sleep 1000 & sleep 1000"])
"""


def test_nothing_is_left_of_what_ran_there(image):
    """No mount and no process must be left, even if the tests are killed."""
    folder = image.debian.folder
    image.run("sleep 1000 & setsid sleep 1000 & exit 0")
    assert str(folder) not in pathlib.Path("/proc/mounts").read_text() and inside(folder) == []
    with subprocess.Popen([sys.executable, "-S", "-c", OWNER, HERE, folder]) as owner:
        eventually(lambda: len(inside(folder)) >= 3)
        owner.kill()
    eventually(lambda: inside(folder) == [])
    assert str(folder) not in pathlib.Path("/proc/mounts").read_text()


def eventually(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def inside(folder):
    return [path for path in pathlib.Path("/proc").glob("[0-9]*/root") if reaches(path, folder)]


def reaches(link, folder):
    try:
        return os.readlink(link).startswith(str(folder))
    except OSError:
        return False
