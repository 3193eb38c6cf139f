"""Makes a separate Debian in a folder and runs commands in it. They run as in a container: with other files
and processes, 64 MB of /dev/shm, and any user.

The Debian is made by debootstrap and entered by chroot, which needs root. Each command has its own mount and
process namespaces. So its mounts, and the processes that it leaves running, disappear when the command ends
for any reason. Network and kernel are this machine's.
"""
import os
import pathlib
import shutil
import subprocess

SUITE = "bookworm"
MIRROR = "http://deb.debian.org/debian"
PACKAGE = "debootstrap"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# Variables that describe how this machine reaches the network: the proxies, and the files of trusted
# certificates.
PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "PIP_INDEX_URL")
TRUST = ("PIP_CERT", "SSL_CERT_FILE", "GIT_SSL_CAINFO")

# Sets up /dev as container engines do: with a few devices of the machine, separate terminals, and little
# shared memory.
ENTER = """
set -e
root=$1 user=$2 folder=$3
shift 3
mount -t tmpfs -o mode=755 dev "$root/dev"
for name in null zero full random urandom tty; do
    touch "$root/dev/$name"
    mount --bind "/dev/$name" "$root/dev/$name"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
mount -t tmpfs -o size=64m,mode=1777 shm "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
exec chroot --userspec="$user" "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
"""


def missing():
    """Returns the reason why no such Debian can be made here, or an empty string."""
    if os.geteuid() != 0:
        return "only root can make a Debian in a folder"
    if not shutil.which(PACKAGE):
        return f"{PACKAGE} is not installed"
    return ""


def base(cache):
    """Returns the folder of a fresh Debian, which is downloaded once and kept in `cache`. The folder must not
    be changed."""
    made, unfinished = cache / SUITE, cache / f"{SUITE}.unfinished"
    if not made.exists():
        cache.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(unfinished, ignore_errors=True)
        command = [PACKAGE, "--variant=minbase", SUITE, unfinished, MIRROR]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"debootstrap failed: {done.stdout[-1000:]}{done.stderr[-1000:]}"
        unfinished.rename(made)
    return made


class Debian:
    """A Debian in `folder`, copied from another."""

    def __init__(self, folder, of):
        self.folder = pathlib.Path(folder)
        subprocess.run(["cp", "--archive", "--reflink=auto", of, self.folder], check=True)
        shutil.copy("/etc/resolv.conf", self.folder / "etc" / "resolv.conf")
        self.network = {name: os.environ[name] for name in PROXIES if name in os.environ}
        for name in TRUST:
            if os.path.isfile(os.environ.get(name, "")):
                self.network[name] = f"/etc/{name}.crt"
                shutil.copy(os.environ[name], self.folder / "etc" / f"{name}.crt")

    def home(self, user):
        """The home folder of a user, given by name or by number; / for a number that no user has."""
        for line in (self.folder / "etc" / "passwd").read_text().splitlines():
            name, _, number, _, _, home, _ = line.split(":")
            if user in (name, number):
                return home
        return "/"

    def run(self, words, user="root", folder="/", environment=None, timeout=3000, network=True, **keywords):
        """Runs a command and returns its result, with the output as text. The command gets no variables of
        this process except those for the network."""
        values = {"PATH": PATH, "HOME": self.home(user), "LC_ALL": "C.UTF-8", **self.network,
                  **(environment or {})}
        apart = ["--mount", "--pid", "--ipc", "--uts", *([] if network else ["--net"])]
        enter = ["setpriv", "--pdeathsig", "KILL", "unshare", *apart, "--fork", "--kill-child", "sh", "-c",
                 ENTER, "enter"]
        clean = ["env", "-i", *(f"{name}={value}" for name, value in values.items())]
        # If `user` is a number, the group must be named as well.
        who = f"{user}:{user}" if user.isdigit() else user
        command = list(map(str, [*enter, self.folder, who, folder, *clean, *words]))
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=timeout, check=False, **keywords)

    def shell(self, text, **keywords):
        """Runs the lines of a shell script and returns what they print. No line may fail."""
        done = self.run(["bash", "-e", "-o", "pipefail", "-c", text], **keywords)
        assert done.returncode == 0, (
            f"{text}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout
