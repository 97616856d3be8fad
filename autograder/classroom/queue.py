"""The engine queue of a class: it lends a bounded number of engines to students, in the order in which they ask.

Each student has a Unix socket, whose folder the student's server sees. A notebook connects to it before it starts
engines (`course/engines/lease.py`), and its connection is the lease: when the connection drops, for whatever reason,
the engines are free for others. Runs in a thread of its own, writes below its folder only, and trusts no client.

Messages are JSON objects, one per line. In, once: `{"engines": N}`. Out: `{"refused": SENTENCE}`, `{"place": K,
"engines": M}` whenever the place among those who wait changes, `{"own": K, "most": M}` where only the student's own
engines stand in the way, `{"granted": N}`, and after that `{"wanted": BOOL}` whenever others begin or cease to wait.
"""

import asyncio
import contextlib
import hashlib
import itertools
import json
import os
import socket
import threading
from dataclasses import dataclass, field
from pathlib import Path

SOCKET = "socket"  # its name in the student's folder
SECONDS_TO_ASK = 10  # for a request to arrive on a new connection
MOST_CONNECTIONS = 16  # open ones per student
SECONDS_BETWEEN_CONNECTIONS = 0.05  # per student, so that a flood costs nobody else
SECONDS_TO_RECOVER = 1  # from a connection that could not be accepted
MOST_BYTES = 1000  # of a request, and of answers that a client does not read


@dataclass(eq=False)
class Request:
    """A student's request for engines.

    number: in the order of arrival. write: a function that sends a message. is_granted: whether it has become a lease.
    last: the message that was sent last.
    """

    student: str
    engines: int
    number: int
    write: object
    is_granted: bool = False
    last: dict = field(default_factory=dict)

    def tell(self, **message):
        """Send a message, unless it repeats the last one."""
        if message != self.last:
            self.last = message
            self.write(message)


class Ledger:
    """Who has engines and who waits for them. engines: how many are lent at most; per_student: to one student.

    Students with fewer engines come first; among equals, those who asked first. A request that only its student's own
    engines prevent is passed over. The first of the others is not, however large it is, so that everyone's turn comes.
    """

    def __init__(self, engines, per_student):
        self.engines, self.per_student = engines, min(engines, per_student)
        self.requests = []
        self.numbers = itertools.count()

    def ask(self, student, engines, write):
        """Add a request; returns it, or None if it was refused."""
        if type(engines) is not int or engines < 1:
            write({"refused": "A request for engines takes a whole number of at least 1."})
            return None
        if engines > self.per_student:
            most = self.per_student
            write({"refused": f"This server lends each student at most {most} engines. Ask for no more than {most}."})
            return None
        request = Request(student, engines, next(self.numbers), write)
        self.requests.append(request)
        self.lend()
        return request

    def end(self, request):
        """Remove a request or a lease."""
        self.requests.remove(request)
        self.lend()

    def count_lent(self, student=None):
        """How many engines are lent, to everyone or to one student."""
        return sum(each.engines for each in self.requests if each.is_granted and student in (None, each.student))

    def lend(self):
        """Grant what can be granted, and tell everybody whose position has changed."""
        while waiting := self.list_waiting():
            if self.count_lent() + waiting[0].engines > self.engines:
                break
            waiting[0].is_granted = True
            waiting[0].tell(granted=waiting[0].engines)
        for place, request in enumerate(waiting, 1):
            request.tell(place=place, engines=self.engines)
        for request in self.requests:
            if request.is_granted:
                if waiting or "wanted" in request.last:
                    request.tell(wanted=bool(waiting))
            elif request not in waiting:
                request.tell(own=self.count_lent(request.student), most=self.per_student)

    def list_waiting(self):
        """The requests that wait for engines of others, in their order."""
        held = {each.student: self.count_lent(each.student) for each in self.requests}
        waiting = [each for each in self.requests if not each.is_granted]
        able = [each for each in waiting if held[each.student] + each.engines <= self.per_student]
        return sorted(able, key=lambda each: (held[each.student], each.number))


class EngineQueue:
    """The queue's server. folder: for the sockets, one folder per student. engines, per_student: as in `Ledger`."""

    def __init__(self, folder, engines, per_student):
        self.folder = Path(folder)
        self.ledger = Ledger(engines, per_student)
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="engine queue", daemon=True)
        self.tasks = {}  # name of a student's folder -> the task that accepts connections there

    def start(self):
        """Start to serve, also the students of before if the class's server starts again."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        self.thread.start()
        for folder in self.folder.iterdir():
            self._serve(folder)

    def open(self, student):
        """Open a student's socket if it is not open; returns its folder, which that student's sandbox alone must show.

        The sandbox binds the folder, read-only, and not the file `socket` in it: a queue that starts again makes a new
        file. The folder stays the Hub's, so that no student can put a link there.
        """
        folder = self.folder / hashlib.sha256(student.encode()).hexdigest()[:16]
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        self._serve(folder)
        return folder

    def stop(self):
        """Stop to serve. Notebooks keep their engines, and ask again for them when the queue is back."""

        async def cancel():
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(cancel(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def _serve(self, folder):
        if folder.name not in self.tasks:
            listener = listen(folder)
            self.tasks[folder.name] = asyncio.run_coroutine_threadsafe(self._accept(folder.name, listener), self.loop)

    async def _accept(self, student, listener):
        """Accept a student's connections, slowly enough that a flood of them costs nobody else."""
        talks = set()
        with listener:
            while True:
                try:
                    connection, _ = await self.loop.sock_accept(listener)
                except OSError:  # the Hub has too many files open: others may close theirs
                    await asyncio.sleep(SECONDS_TO_RECOVER)
                    continue
                if len(talks) < MOST_CONNECTIONS:
                    talk = asyncio.create_task(self._talk(student, connection))
                    talks.add(talk)
                    talk.add_done_callback(talks.discard)
                else:
                    connection.close()
                await asyncio.sleep(SECONDS_BETWEEN_CONNECTIONS)

    async def _talk(self, student, connection):
        """Serve one connection until it drops, or until its client sends what it should not."""
        reader, writer = await asyncio.open_unix_connection(sock=connection, limit=MOST_BYTES)

        def write(message):
            if writer.transport.get_write_buffer_size() > MOST_BYTES:
                writer.transport.abort()  # the client does not read
            elif not writer.is_closing():
                writer.write(json.dumps(message).encode() + b"\n")

        request = None
        try:
            async with asyncio.timeout(SECONDS_TO_ASK):
                message = json.loads(await reader.readline())
            request = self.ledger.ask(student, message["engines"], write)
            if request:
                await reader.read(1)
        except (OSError, ValueError, TypeError, LookupError, RecursionError):  # TimeoutError too
            pass
        finally:
            if request:
                self.ledger.end(request)
            with contextlib.suppress(OSError):
                writer.close()


def listen(folder):
    """Return a socket that listens at `folder / SOCKET`, whatever the length of that path. Linux only."""
    (folder / SOCKET).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{descriptor}/{SOCKET}")  # a path of its own may be too long for a Unix socket
    finally:
        os.close(descriptor)
    (folder / SOCKET).chmod(0o666)  # the folder keeps others out
    listener.listen(MOST_CONNECTIONS)
    listener.setblocking(False)
    return listener
