"""A relay between the two ends of TCP connections. On command it disturbs them as networks and hosts may do.

    relay = Relay(target=("127.0.0.1", 5000)).start()   connect to relay.address instead of the target
    relay.delay("forward", 20)                          20 ms, towards the target; "backward" is from it
    relay.stall("both", 0.5)                            forwards nothing for half a second
    relay.bytewise("backward", True)                    one byte in each write
    relay.flip("forward", 1000); relay.reset_at("backward", 5000)
    relay.reset(); relay.counts(); relay.stop()

Offsets count the bytes of one direction within each connection. A flip or a reset at an offset happens once,
on the first connection that reaches it. A reset goes to both ends, after the bytes before it are delivered.
`lab relay` is the command; `RelayProcess` runs it in a host of the lab. All sockets belong to one thread, and
the public functions run their work in it.
"""
import collections
import concurrent.futures
import random
import selectors
import socket
import struct
import threading
import time

from .relay_pipe import TROUBLES, Pipe

DIRECTIONS = ("forward", "backward")
RESET_ON_CLOSE = struct.pack("ii", 1, 0)
CONNECT_PATIENCE_S = 5


class Faults:
    """Describes what the relay does to one direction of all connections."""

    def __init__(self):
        self.delay_s = 0.0
        self.stalled_until = 0.0
        self.bytewise = False
        self.flips = {}     # offset -> bit
        self.resets = set()


class Relay:
    """Listens on `listen` (port 0: any) and forwards each connection to `target`.

    With a `seed`, it also causes random troubles. Seed 0 chooses one, which is printed and is `relay.seed`.
    """

    def __init__(self, target, listen=("127.0.0.1", 0), seed=None, troubles=None):
        self.target = target
        self.faults = {direction: Faults() for direction in DIRECTIONS}
        self.counted = collections.Counter(connections=0, refused=0, resets=0, flips=0, forward_bytes=0,
                                           backward_bytes=0)
        self.open = set()
        self.selector = selectors.DefaultSelector()
        self.seed = random.randrange(1, 1 << 31) if seed == 0 else seed
        self.random = random.Random(self.seed) if self.seed else None
        self.troubles = TROUBLES if troubles is None else troubles
        if self.seed:
            print(f"relay: seed {self.seed}", flush=True)
        self._listener = socket.create_server(listen)
        self._listener.setblocking(False)
        self.address = self._listener.getsockname()
        self._calls = collections.deque()
        self._waking, self._woken = socket.socketpair()
        self._woken.setblocking(False)
        self._thread = threading.Thread(target=self._loop, name="relay", daemon=True)
        self._stopped = False

    # Commands -----------------------------------------------------------------------------------------------

    def start(self):
        self._thread.start()
        return self

    def stop(self):
        """Closes everything. Data under way is lost."""
        if self._thread.is_alive():
            self._call(self._stop)
            self._thread.join()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def delay(self, direction, delay_ms):
        self._each(direction, lambda faults: setattr(faults, "delay_s", delay_ms / 1000))

    def stall(self, direction, seconds):
        self._each(direction, lambda faults: setattr(faults, "stalled_until", time.monotonic() + seconds))

    def bytewise(self, direction, on=True):
        self._each(direction, lambda faults: setattr(faults, "bytewise", on))

    def flip(self, direction, offset, bit=0):
        self._each(direction, lambda faults: faults.flips.update({offset: bit}))

    def reset_at(self, direction, offset):
        self._each(direction, lambda faults: faults.resets.add(offset))

    def reset(self):
        """Resets all connections now; returns how many there were."""
        return self._call(lambda: sum(pair.reset() for pair in list(self.open)))

    def counts(self):
        """connections, open, refused (by the target), resets, flips, forward_bytes and backward_bytes."""
        return self._call(lambda: {**self.counted, "open": len(self.open)})

    def _each(self, direction, change):
        if direction not in (*DIRECTIONS, "both"):
            raise ValueError(f"there is no direction '{direction}'; there are forward, backward and both")
        self._call(lambda: [change(self.faults[name]) for name in DIRECTIONS if direction in (name, "both")])

    def _call(self, function):
        """Runs a function in the relay's thread and returns what it returns."""
        result = concurrent.futures.Future()
        self._calls.append((function, result))
        self._waking.send(b"x")
        return result.result(timeout=60)

    # The thread ---------------------------------------------------------------------------------------------

    def _loop(self):
        self.selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self.selector.register(self._woken, selectors.EVENT_READ, self._answer)
        while not self._stopped:
            due = min((pair.next_due() for pair in self.open), default=None)
            wait = None if due is None or due == float("inf") else max(0.0, due - time.monotonic())
            for key, _ in self.selector.select(wait):
                key.data()
            for pair in list(self.open):
                pair.step()

    def _answer(self):
        self._woken.recv(4096)
        while self._calls:
            function, result = self._calls.popleft()
            try:
                result.set_result(function())
            except Exception as error:  # _call raises it
                result.set_exception(error)

    def _accept(self):
        client, _ = self._listener.accept()
        self.counted["connections"] += 1
        try:
            # All other connections wait meanwhile, but not long, because targets are near.
            server = socket.create_connection(self.target, timeout=CONNECT_PATIENCE_S)
        except OSError:
            self.counted["refused"] += 1
            abort(client)
            return
        self.open.add(Pair(self, client, server))

    def _stop(self):
        self._stopped = True
        for pair in list(self.open):
            pair.close()
        for end in (self._listener, self._woken):
            self.selector.unregister(end)
        for end in (self._listener, self._woken, self._waking):
            end.close()
        self.selector.close()


class Pair:
    """One connection: the client's socket, the target's, and a Pipe in each direction."""

    def __init__(self, relay, client, server):
        self.relay = relay
        self.ends = (client, server)
        self.pipes = (Pipe(self, "forward", client, server), Pipe(self, "backward", server, client))
        for end in self.ends:
            end.setblocking(False)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.watched = {}
        self.alive = True

    def next_due(self):
        return min(pipe.next_due() for pipe in self.pipes)

    def step(self):
        """Writes what is due, then waits for what each end can do next."""
        for pipe in self.pipes:
            if self.alive:
                pipe.write()
        if not self.alive:
            return
        if all(pipe.finished for pipe in self.pipes):
            self.close()
            return
        forward, backward = self.pipes
        for end, reader, writer in ((self.ends[0], forward, backward), (self.ends[1], backward, forward)):
            self.watch(end, selectors.EVENT_READ * reader.wants_to_read()
                       | selectors.EVENT_WRITE * writer.blocked, reader)

    def watch(self, end, events, reader):
        if self.watched.get(end, 0) == events:
            return
        if self.watched.get(end, 0):
            self.relay.selector.unregister(end)
        self.watched[end] = events
        if events:
            # A writable end needs no function of its own, since every pair is stepped after each wait.
            self.relay.selector.register(end, events, reader.read)

    def forget(self):
        for end in [end for end, events in self.watched.items() if events]:
            self.relay.selector.unregister(end)
        self.alive = False
        self.relay.open.discard(self)

    def close(self):
        self.forget()
        for end in self.ends:
            end.close()

    def reset(self):
        """Sends a RST to both ends. Returns whether there was something to reset."""
        if not self.alive:
            return False
        self.forget()
        self.relay.counted["resets"] += 1
        for end in self.ends:
            abort(end)
        return True


def abort(end):
    """Closes with a RST in place of a FIN."""
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    end.close()
