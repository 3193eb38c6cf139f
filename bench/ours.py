"""Compares two builds of Lanyard, in pairs of runs and by counted instructions.

    bench/compare --ours build/before build/release                     everything, about 8 minutes
    bench/compare --ours build/before build/release --only latency --paths shm --rounds 40
    bench/compare --ours build/before build/release --only instructions

A and B are build folders, or folders of installs; B is the one in question. For latency, rate and bandwidth
on each path, a run of A and a run of B form a pair without a pause between them; their order alternates. The
line of a figure has the median of the time ratios B/A of its pairs with a 95 % interval. The verdict is
'slower' if the whole interval is above 1.01, 'faster' if it is below 0.99, else 'level'. The state of the
machine (two threads of one core, or two cores) is measured beside each pair; if it changed, each state has a
table of its own too. The instructions of calls in shared memory are counted.

Exit code: 0 if B is slower in nothing; 1 if it is slower in something, executes over 1 % more instructions in
some call, or has no figure for something; 2 for wrong use.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import machine_state
import ours_record
import ours_report
import pairs
import peers
import recording
from tables import minutes
from verdicts import groups_of, judge_counts, slower_ones

METRICS = [*pairs.METRICS, "instructions"]
SECONDS_OF_RUN, SECONDS_OF_COUNTS, SECONDS_OF_PATIENCE = 0.9, 60, 3


def some_of(names):
    def parse(text):
        chosen = text.split(",")
        if unknown := [name for name in chosen if name not in names]:
            raise argparse.ArgumentTypeError(f"there is no '{unknown[0]}'; there are {', '.join(names)}")
        return chosen
    return parse


def at_least_one(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 on")
    return int(text)


def parse(words):
    parser = argparse.ArgumentParser(prog="bench/compare --ours", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", metavar="PREFIX_A", help="folder of the build to compare with")
    parser.add_argument("b", metavar="PREFIX_B", help="folder of the build in question")
    parser.add_argument("--rounds", type=at_least_one, default=20,
                        help="pairs of each figure (20); below 6 there is no verdict")
    parser.add_argument("--only", type=some_of(METRICS), default=METRICS,
                        help="comma-separated, of: " + ", ".join(METRICS))
    parser.add_argument("--paths", type=some_of(pairs.PATHS), default=list(pairs.PATHS),
                        help="comma-separated, of: " + ", ".join(pairs.PATHS))
    parser.add_argument("--patience", type=float, default=3,
                        help="seconds to wait for a quiet machine before each round (3)")
    parser.add_argument("--out", type=Path, default=recording.REPOSITORY / "build" / "bench",
                        help="folder for before-after.json, as bench/results has it (build/bench)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all pairs and verdicts there")
    return parser.parse_args(words)


def builds_of(options, metrics):
    """Returns both builds, ready to run the programs for these metrics."""
    prefixes = [pairs.check_prefix(prefix) for prefix in (options.a, options.b)]
    programs = pairs.find_programs(prefixes, metrics)
    builds = [pairs.library_of(key, prefix, programs) for key, prefix in zip("AB", prefixes)]
    for build in builds if metrics else ():
        pairs.check_whole(build, programs / f"bench-{metrics[0]}")
    return builds


def say_how_long(cells, options):
    seconds = options.rounds * (len(cells) * 2 * SECONDS_OF_RUN + min(options.patience, SECONDS_OF_PATIENCE))
    seconds += SECONDS_OF_COUNTS if "instructions" in options.only else 0
    peers.say(f"about {minutes(seconds)}")


def counts_of(a, b):
    """Returns (the judged counts, the reason if there are none)."""
    reason = pairs.why_no_counts(a)
    if not reason:
        peers.say("counting instructions")
        try:
            counted = pairs.count_both(a, b)
            return [count for name, counts in counted.items() for count in judge_counts(name, *counts)], ""
        except subprocess.SubprocessError as problem:
            reason = f"{problem} {(problem.stderr or '').strip()}"
    return [], f"Instructions are not counted: {reason}"


def runs_of(a, b, cells, options):
    """Runs all pairs."""
    with tempfile.TemporaryDirectory() as folder:
        program = machine_state.compile_program(folder) if cells else None
        runs = pairs.Runs(a, b, cells, lambda: machine_state.look(program), options.patience)
        runs.run_all(options.rounds if cells else 0)
    return runs


def write_record(a, b, runs, options, begun):
    """Writes the pairs as a file like those of bench/results."""
    if runs.pairs:
        command = recording.command_line("bench/compare", ["--ours", options.a, options.b])
        recording.write(options.out, ours_record.series_of(runs), ours_record.NAME, ours_record.SECTION,
                        ours_record.libraries_of(a, b), begun, ranks=2, command=command)


def compare(options):
    """Returns the text of the report, its JSON, and the exit code."""
    metrics = [name for name in pairs.METRICS if name in options.only]
    a, b = builds_of(options, metrics)
    cells = pairs.cells_of(metrics, options.paths)
    say_how_long(cells, options)
    begun = recording.now()
    runs = runs_of(a, b, cells, options)
    write_record(a, b, runs, options, begun)
    counts, uncounted = counts_of(a, b) if "instructions" in options.only else ([], "")
    groups = groups_of(runs.pairs)
    failed, incomplete = ours_report.failure_lines(runs.failures, runs.pairs)
    text = ours_report.whole(a, b, runs, groups, counts, [*failed, *filter(None, [uncounted])])
    code = 1 if any(slower_ones(groups, counts)) or incomplete or uncounted else 0
    return text, ours_report.as_json(a, b, runs, groups, counts), code


def main(words):
    options = parse([word for word in words if word != "--ours"])
    if options.json and not options.json.absolute().parent.is_dir():
        print(f"bench/compare: there is no folder for {options.json}", file=sys.stderr)
        return 2
    try:
        text, numbers, code = compare(options)
    except peers.Unavailable as problem:
        print(f"bench/compare: {problem}", file=sys.stderr)
        return 2
    print(text)
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=1))
    return code
