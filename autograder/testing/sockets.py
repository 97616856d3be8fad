"""Connections to a board for tests and benches: silent ones, and clients at several addresses of this machine."""

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading

import httpx

from autograder.competition.leaderboard.connections import raise_file_limit

REOPENED_AFTER = 5  # seconds after which a flood opens a connection again that was closed


@contextlib.contextmanager
def open_silent(port, count, text=b"GET / HTTP/1.1\r\nHost: a", address="127.0.0.1"):
    """Open so many connections from an address, send a text on each, and no more. Yields the sockets."""
    connections = []
    try:
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port), 30, source_address=(address, 0))
            connections.append(connection)
            with contextlib.suppress(OSError):  # it may have been closed for a newer one
                connection.sendall(text)
        yield connections
    finally:
        for connection in connections:
            connection.close()


def count_open(connections):
    """How many of these connections the server has not closed. An answer that it sent is read and dropped."""
    return sum(is_open(each) for each in connections)


def is_open(connection):
    """Whether the server has not closed a connection."""
    connection.setblocking(False)
    try:
        while connection.recv(2**16):
            pass
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def make_client(url, address="127.0.0.1", **options):
    """A client of a board, without proxies, whose requests come from this address."""
    transport = httpx.HTTPTransport(local_address=address, **options)
    return httpx.Client(base_url=url, transport=transport, timeout=30)


class Dripping(threading.Thread):
    """Sends one byte on each of these connections every half second until they are closed or `stop` is called."""

    def __init__(self, connections):
        super().__init__(daemon=True)
        self.connections, self.has_ended = connections, threading.Event()
        self.start()

    def run(self):
        while not self.has_ended.wait(0.5):
            for connection in self.connections:
                with contextlib.suppress(OSError):
                    connection.send(b"a")

    def stop(self):
        """End it."""
        self.has_ended.set()
        self.join()


# -- a flood, as a process


@contextlib.contextmanager
def flood(port, count, address):
    """Keep so many silent connections from an address open while this block runs, in a separate process."""
    command = [sys.executable, "-m", __name__, str(port), str(count), address]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            process.stdout.readline()  # all have been opened once
            yield
        finally:
            process.kill()


async def keep_silent(port, address):
    """Open a connection and send half a header, again whenever the server closes it."""
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
            writer.write(b"GET / HTTP/1.1\r\nHost: a")
            with contextlib.suppress(OSError):
                await reader.read()
            writer.close()
        await asyncio.sleep(REOPENED_AFTER)


async def main(port, count, address):
    """Keep the flood up until this process is killed."""
    raise_file_limit()
    tasks = [asyncio.create_task(keep_silent(int(port), address)) for _ in range(int(count))]
    await asyncio.sleep(5)
    print("flooded", flush=True)
    await asyncio.gather(*tasks)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
