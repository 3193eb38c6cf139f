#!/usr/bin/env python3
"""heat computes how warmth spreads through a metal plate. All ranks of an MPI job compute together.

    mpirun -n 4 python heat.py [PICTURE [STEPS]]

The plate, the burners and the time step are the same as in heat.c. By default there are a quarter as many
steps. numpy does the arithmetic, mpi4py exchanges the halos. The ranks divide the grid into rectangles. Each
rectangle has a border of one point all around, the halo. It contains copies of the neighbours' outermost
points, which messages refresh before every step.
"""
import struct
import sys
import time
import zlib

import numpy as np
from mpi4py import MPI

SIDE, STEPS, REPORTS = 480, 3000, 12
DIFFUSIVITY = 9.7e-5  # of aluminium, m2/s
SPACING = 0.5 / SIDE  # a plate of half a metre, m
COLD, HOT = 20.0, 220.0  # degrees Celsius
SPEED = 0.24  # time step x diffusivity / spacing^2; stable up to 0.25
# Row, column, radius in parts of the side.
BURNERS = [(0.30, 0.32, 0.09), (0.36, 0.70, 0.06), (0.72, 0.52, 0.11)]

comm = MPI.COMM_WORLD


class Block:
    """One rank's rectangle: its place in the plate, its neighbours, and the type of one of its columns."""

    def __init__(self, rank, ranks):
        # The ranks form a grid as square as their number allows: 4 are 2 x 2, 6 are 2 x 3, 5 are 1 x 5.
        down = max(i for i in range(1, int(ranks**0.5) + 1) if ranks % i == 0)
        across = ranks // down
        row, column = divmod(rank, across)
        self.row_range = slice(SIDE * row // down, SIDE * (row + 1) // down)
        self.column_range = slice(SIDE * column // across, SIDE * (column + 1) // across)
        self.rows = self.row_range.stop - self.row_range.start
        self.columns = self.column_range.stop - self.column_range.start
        # Beyond the rim there is no neighbour: a message to or from PROC_NULL does nothing.
        self.above = rank - across if row > 0 else MPI.PROC_NULL
        self.below = rank + across if row < down - 1 else MPI.PROC_NULL
        self.left = rank - 1 if column > 0 else MPI.PROC_NULL
        self.right = rank + 1 if column < across - 1 else MPI.PROC_NULL


def held_temperatures(block):
    """The temperatures at which the points of a block, halo included, are held. NaN if a point is free."""
    row = np.arange(block.row_range.start - 1, block.row_range.stop + 1)[:, None]
    column = np.arange(block.column_range.start - 1, block.column_range.stop + 1)[None, :]
    held = np.full((block.rows + 2, block.columns + 2), np.nan)
    for burner_row, burner_column, radius in BURNERS:
        held[np.hypot(row - burner_row * SIDE, column - burner_column * SIDE) < radius * SIDE] = HOT
    held[(row <= 0) | (column <= 0) | (row >= SIDE - 1) | (column >= SIDE - 1)] = COLD
    return held


def exchange_halo(block, t, column_type):
    """Sends the rank's outermost rows and columns to the four neighbours and receives theirs into the
    halo."""
    def column(j):  # a column's points lie a row apart in memory; the derived type describes them
        return [t.reshape(-1)[t.shape[1] + j:], 1, column_type]

    MPI.Request.Waitall([
        comm.Irecv(t[0, 1:-1], block.above), comm.Irecv(t[-1, 1:-1], block.below),
        comm.Irecv(column(0), block.left), comm.Irecv(column(block.columns + 1), block.right),
        comm.Isend(t[1, 1:-1], block.above), comm.Isend(t[-2, 1:-1], block.below),
        comm.Isend(column(1), block.left), comm.Isend(column(block.columns), block.right),
    ])


def step(now):
    """The plate's inner points one time step later."""
    neighbours = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:]
    return now[1:-1, 1:-1] + SPEED * (neighbours - 4 * now[1:-1, 1:-1])


def write_picture(path, plate):
    """Writes the plate as a PNG file, which is a few chunks around zlib-compressed rows."""
    scale = np.array([[10, 10, 60], [70, 20, 130], [200, 40, 70], [250, 150, 30], [255, 250, 210]])
    part = np.clip((plate - COLD) / (HOT - COLD), 0, 1) * (len(scale) - 1)
    rgb = np.stack([np.interp(part, range(len(scale)), scale[:, c]) for c in range(3)], axis=-1)
    rows = b"".join(b"\0" + row.tobytes() for row in (rgb + 0.5).astype(np.uint8))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) +
                   chunk(b"IEND", b""))


def main():
    picture = sys.argv[1] if len(sys.argv) > 1 else "heat-python.png"
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else STEPS
    report_every = max(steps // REPORTS, 1)
    rank, ranks = comm.rank, comm.size
    block = Block(rank, ranks)
    column_type = MPI.DOUBLE.Create_vector(block.rows, 1, block.columns + 2).Commit()
    held = held_temperatures(block)
    now = np.where(np.isnan(held), COLD, held)
    held_inside = held[1:-1, 1:-1]
    free = np.isnan(held_inside)

    seconds_per_step, start = SPEED * SPACING**2 / DIFFUSIVITY, time.perf_counter()
    if rank == 0:
        print(f"heat: {SIDE} x {SIDE} points on {ranks} ranks, {steps} steps")
    for n in range(1, steps + 1):
        exchange_halo(block, now, column_type)
        inside = np.where(free, step(now), held_inside)
        if n % report_every == 0:
            change = (comm.allreduce(np.sum((inside - now[1:-1, 1:-1]) ** 2)) / SIDE**2) ** 0.5
            if rank == 0:
                print(f"heat: {100 * n // steps:3d} %, {n * seconds_per_step:5.1f} s of the plate's time, "
                      f"change per step {change:.2e} degrees", flush=True)
        now[1:-1, 1:-1] = inside

    parts = comm.gather(now[1:-1, 1:-1].copy())
    if rank == 0:
        plate = np.empty((SIDE, SIDE))
        for source, part in enumerate(parts):
            other = Block(source, ranks)
            plate[other.row_range, other.column_range] = part
        write_picture(picture, plate)
        print(f"heat: {time.perf_counter() - start:.1f} seconds; the picture is in {picture}")
    column_type.Free()


main()
