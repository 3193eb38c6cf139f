"""A Pipe is one direction of a connection through the relay. Data waits in a queue until the time at which it
is to be written.

The queue holds entries [due, item, one byte in each write]. An item is data, END (the source closed its side)
or RESET. All of this runs in the relay's thread. At most QUEUE_BYTES wait. If the queue is full, the source
is not read, so that TCP slows the source down.
"""
import collections
import fcntl
import socket
import struct
import termios
import time

CHUNK_BYTES = 1 << 16
QUEUE_BYTES = 4 << 20
WRITES_A_TURN = 4096       # then other connections have their turn
RESET_PATIENCE_S = 1.0     # how long the sink may take to acknowledge the data before a reset
END, RESET = object(), object()
# The troubles of the random mode, with the probability that one happens to a chunk of data.
TROUBLES = {"delay": 0.02, "stall": 0.005, "split": 0.05, "bytewise": 0.01, "reset": 0.002}
DELAY_MAX_S, STALL_MAX_S, PIECES_MAX, BYTEWISE_MAX = 0.05, 0.2, 8, 2000


class Pipe:
    def __init__(self, pair, direction, source, sink):
        self.pair, self.source, self.sink = pair, source, sink
        self.relay = pair.relay
        self.direction = direction
        self.faults = pair.relay.faults[direction]
        self.queue = collections.deque()
        self.queued_bytes = 0
        self.offset = 0            # bytes read
        self.last_due = 0.0        # later data is never due earlier, so that the order is kept
        self.stalled_until = 0.0
        self.ended = False         # nothing more is read
        self.finished = False      # the sink's side is shut down
        self.blocked = False       # the sink accepts nothing now

    def wants_to_read(self):
        return not self.ended and self.queued_bytes < QUEUE_BYTES

    def next_due(self):
        if self.blocked or not self.queue:
            return float("inf")
        return max(self.queue[0][0], self.faults.stalled_until, self.stalled_until)

    # Reading ------------------------------------------------------------------------------------------------

    def read(self):
        if not self.pair.alive or not self.wants_to_read():
            return
        try:
            data = self.source.recv(CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            self.pair.reset()  # one side was reset, so the other side is reset too
            return
        if data:
            self.take(bytearray(data))
        else:
            self.end(END)

    def take(self, data):
        start, end = self.offset, self.offset + len(data)
        self.offset = end
        for at in [at for at in self.faults.flips if start <= at < end]:
            data[at - start] ^= 1 << self.faults.flips.pop(at)
            self.relay.counted["flips"] += 1
        reset_at = min((at for at in self.faults.resets if start < at <= end or at == start == 0),
                       default=None)
        if reset_at is not None:
            self.faults.resets.discard(reset_at)
            data = data[:reset_at - start]
        if self.relay.random:
            self.trouble(data)
        else:
            self.put(data)
        if reset_at is not None:
            self.end(RESET)

    def trouble(self, data):
        """Chooses at random what happens to this piece of data."""
        dice, troubles = self.relay.random, self.relay.troubles
        kind = dice.choices([None, *troubles], [1 - sum(troubles.values()), *troubles.values()])[0]
        if kind == "delay":
            self.put(data, delay_s=dice.uniform(0, DELAY_MAX_S))
        elif kind == "stall":
            self.stalled_until = time.monotonic() + dice.uniform(0, STALL_MAX_S)
            self.put(data)
        elif kind == "split":
            cuts = sorted(dice.randrange(len(data) + 1) for _ in range(dice.randrange(1, PIECES_MAX)))
            for begin, until in zip([0, *cuts], [*cuts, len(data)]):
                self.put(data[begin:until])
        elif kind == "bytewise":
            self.put(data[:BYTEWISE_MAX], bytewise=True)
            self.put(data[BYTEWISE_MAX:])
        elif kind == "reset":
            self.put(data[:dice.randrange(len(data) + 1)])
            self.end(RESET)
        else:
            self.put(data)

    def put(self, data, delay_s=0.0, bytewise=False):
        if data and not self.ended:
            self.last_due = max(self.last_due, time.monotonic() + self.faults.delay_s + delay_s)
            self.queue.append([self.last_due, memoryview(data), bytewise])
            self.queued_bytes += len(data)

    def end(self, how):
        if not self.ended:
            self.ended = True
            self.queue.append([max(self.last_due, time.monotonic() + self.faults.delay_s), how, False])

    # Writing ------------------------------------------------------------------------------------------------

    def write(self):
        """Writes what is due. The last entry ends the pipe or the whole connection."""
        self.blocked = False
        for _ in range(WRITES_A_TURN):
            if self.next_due() > time.monotonic():
                return
            due, item, bytewise = self.queue[0]
            if item is RESET:
                self.finish_with_reset(due)
                return
            if item is END:
                self.finish()
                return
            try:
                if bytewise or self.faults.bytewise:
                    # Without MSG_EOR, the kernel would put waiting bytes into one segment.
                    sent = self.sink.send(item[:1], socket.MSG_EOR)
                else:
                    sent = self.sink.send(item)
            except BlockingIOError:
                self.blocked = True
                return
            except OSError:
                self.pair.reset()
                return
            self.queued_bytes -= sent
            self.relay.counted[f"{self.direction}_bytes"] += sent
            self.queue[0][1] = item[sent:]
            if sent == len(item):
                self.queue.popleft()

    def finish(self):
        self.queue.popleft()
        self.finished = True
        try:
            self.sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the sink has closed its connection; the other direction notices this

    def finish_with_reset(self, due):
        """Resets the connection when the sink has acknowledged all earlier data, because a RST destroys data
        that is still under way."""
        now = time.monotonic()
        if unacknowledged_bytes(self.sink) and now < self.last_due + RESET_PATIENCE_S:
            self.queue[0][0] = max(due, now + 0.001)
        else:
            self.pair.reset()


def unacknowledged_bytes(end):
    return struct.unpack("i", fcntl.ioctl(end, termios.TIOCOUTQ, b"\0" * 4))[0]
