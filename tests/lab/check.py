"""Implements `lab check`, which measures what bare TCP and UDP reach between two hosts, for each rail.

Other figures "of line rate" are relative to these figures. The program raw.c measures. It is compiled into a
temporary folder.
"""
import contextlib
import pathlib
import subprocess
import tempfile

from .system import LabError, call

SOURCE = pathlib.Path(__file__).with_name("raw.c")
HEADERS_BYTES = 28  # IP and UDP
ATTEMPTS = 6
FIELDS = (("rail", "rail", "{}"), ("congestion", "congestion", "{}"), ("mtu", "mtu", "{}"),
          ("rate_mbit", "rate Mbit/s", "{}"), ("tcp_mb_s", "TCP MB/s", "{:.1f}"),
          ("rtt_us", "1-byte RTT us", "{:.1f}"), ("rtt_spin_us", "spinning", "{:.1f}"),
          ("udp_mb_s", "UDP MB/s", "{:.1f}"), ("udp_lost", "UDP lost", "{:.2%}"))


def compiled(folder):
    program = pathlib.Path(folder) / "raw"
    call(["gcc", "-O2", "-Wall", "-o", program, SOURCE])
    return program


@contextlib.contextmanager
def server(lab, program, host, rail):
    """Runs the far end of all measurements. Yields its port."""
    process = lab.popen(host, [program, "serve", lab.address(host, rail)], stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        if not line:
            raise LabError(f"the measuring program ended at once in {host}; is rail {rail} up?")
        yield int(line)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def measured(lab, program, host, *words):
    done = lab.run(host, [program, *words], timeout=120)
    if done.returncode != 0:
        raise LabError(f"measuring from {host} failed: "
                       f"{done.stderr.strip() or f'exit code {done.returncode}'}")
    return [float(word) for word in done.stdout.split()]


def udp(lab, program, host, where, size, seconds):
    """Returns (payload bytes a second that arrive, share of datagrams lost) at the rate with the least loss.

    The first attempt sends as fast as possible. Each further one is slower, until none is lost.
    """
    rate, best = 0, (0.0, 1.0)
    for _ in range(ATTEMPTS):
        sent, received, arrived = measured(lab, program, host, "udp", *where, seconds, size, rate)
        lost = 1 - received / sent
        if lost < best[1]:
            best = (arrived, lost)
        if lost == 0:
            break
        rate = arrived * 0.85
    return best


def check(lab, source="h1", target="h2", seconds=1.0):
    """Returns one dictionary for each rail, with the keys of FIELDS."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="lanyard-lab-") as folder:
        program = compiled(folder)
        for rail in lab.rails:
            [link] = lab.links_of(source, rail)
            with server(lab, program, target, rail) as port:
                where = (lab.address(target, rail), port)
                [bytes_a_second] = measured(lab, program, source, "bulk", *where, seconds)
                [blocking] = measured(lab, program, source, "ping", *where, seconds / 4, 1, "block")
                [spinning] = measured(lab, program, source, "ping", *where, seconds / 4, 1, "spin")
                arrived, lost = udp(lab, program, source, where, link.mtu - HEADERS_BYTES, seconds / 4)
            control = call(["sysctl", "-n", "net.ipv4.tcp_congestion_control"],
                           where=lab.namespace(source)).strip()
            rows.append({"rail": rail, "from": source, "to": target, "congestion": control, "mtu": link.mtu,
                         "rate_mbit": link.rate_bps / 1e6 if link.rate_bps else "none",
                         "tcp_mb_s": bytes_a_second / 1e6, "rtt_us": blocking, "rtt_spin_us": spinning,
                         "udp_mb_s": arrived / 1e6, "udp_lost": lost})
    return rows


def table(rows):
    cells = ([[title for _, title, _ in FIELDS]]
             + [[form.format(row[name]) for name, _, form in FIELDS] for row in rows])
    widths = [max(len(line[column]) for line in cells) for column in range(len(FIELDS))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in cells)
