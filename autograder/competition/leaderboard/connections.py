"""The board's connections: how many there are at once, and how long each may be silent.

uvicorn speaks HTTP, but three things that it leaves open can take a board down. A header, or the rest of a body after
its answer, may arrive for ever; there is no bound on connections from one address; and asyncio, which accepts them for
uvicorn, does not stop at the file limit: in Python 3.11 `_accept_connection` logs an error and tries again up to 2,048
times per event, and plans as many more. Therefore `Gate` accepts connections itself and counts them by address, and
`TimedProtocol` is uvicorn's protocol with the moments since when it has been waiting. A server in front (`nginx.conf`)
is possible, but a board on a laptop must not need one.

A connection is silent while no request on it is being answered. If an address has as many connections as it may have,
a new one takes the place of its oldest silent one, so that a browser beside a flood of silent connections is served.
A stream of events is an answer under way and stays open for as long as the client reads.
"""

import asyncio
import ipaddress
import logging
import resource
import socket
import time

from uvicorn.protocols.http.h11_impl import H11Protocol

TOTAL = 4096  # connections, if the file limit allows so many
SHARE = 4  # an address, such as that of a lecture hall's router, may have one of so many parts of the total
RESERVED = 256  # files that are left for the database, uploads and everything else
HEADER_SECONDS = 10  # for a TLS handshake and a request's header; an idle connection is closed after 5 by uvicorn
UNREAD_SECONDS = 60  # within which a client must read what it has been sent
TICK = 1  # seconds between two looks at all connections
PAUSE = 0.2  # seconds after a connection could not be accepted

logger = logging.getLogger("uvicorn.error")


def raise_file_limit():
    """Let this process have as many open files as it needs, if the system allows. Returns how many it may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * TOTAL if hard == resource.RLIM_INFINITY else min(hard, 2 * TOTAL)
    if soft not in (resource.RLIM_INFINITY, hard) and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted if soft == resource.RLIM_INFINITY else max(soft, wanted)


def find_origin(host):
    """What counts as one address: an IPv4 address, or the /64 network of an IPv6 address; other text as it is."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    address = getattr(address, "ipv4_mapped", None) or address
    return str(address) if address.version == 4 else str(ipaddress.ip_network((address, 64), strict=False))


class TimedProtocol(H11Protocol):
    """One connection, which knows since when it has been silent or unread.

    origin: see `find_origin`. on_lost: called with this object when the connection has ended. task: opens it.
    """

    def __init__(self, origin, on_lost, **options):
        super().__init__(**options)
        self.origin, self.on_lost, self.task = origin, on_lost, None
        self.silent_since, self.unread_since = time.monotonic(), None

    @property
    def is_silent(self):
        """Whether no request is being answered, and the client has read all that it was sent."""
        is_waiting = self.cycle is None or self.cycle.response_complete
        return is_waiting and (self.transport is None or not self.transport.get_write_buffer_size())

    def has_expired(self, now):
        """Whether the client has kept this connection waiting for too long."""
        if self.is_silent:
            return now - self.silent_since > HEADER_SECONDS
        if self.cycle.response_complete:  # sent, but not read
            return now - self.silent_since > UNREAD_SECONDS
        return self.unread_since is not None and now - self.unread_since > UNREAD_SECONDS

    def end(self):
        """Close the connection at once."""
        if self.transport is None:
            self.task.cancel()  # in the TLS handshake
        else:
            self.transport.abort()

    def on_response_complete(self):
        self.silent_since = time.monotonic()
        super().on_response_complete()

    def pause_writing(self):
        self.unread_since = time.monotonic()
        super().pause_writing()

    def resume_writing(self):
        self.unread_since = None
        super().resume_writing()

    def connection_lost(self, exc):
        super().connection_lost(exc)
        self.on_lost(self)


class Gate:
    """Accepts the connections of a running uvicorn.Server, within bounds. ssl: an ssl.SSLContext for TLS, or None."""

    def __init__(self, server, file_limit, ssl=None):
        self.server, self.ssl = server, ssl
        self.total = max(SHARE, min(TOTAL, file_limit - RESERVED))
        self.per_origin = self.total // SHARE
        self.of_origin = {}  # origin -> {TimedProtocol: None}, the oldest first

    async def accept(self, listener):
        """Accept connections at a listening socket until this is cancelled."""
        loop = asyncio.get_running_loop()
        listener.setblocking(False)
        sweeping = asyncio.create_task(self._sweep())
        try:
            while True:
                try:
                    connection, address = await loop.sock_accept(listener)
                except OSError as error:  # the client has gone, or the whole system has no file left
                    logger.warning("A connection could not be accepted (%s).", error.strerror)
                    await asyncio.sleep(PAUSE)
                    continue
                self._admit(connection, find_origin(address[0]))
                await asyncio.sleep(0)  # those that are there already come between
        finally:
            sweeping.cancel()

    def _admit(self, connection, origin):
        if not self._make_room(origin):
            connection.close()
            return
        protocol = TimedProtocol(
            origin,
            self._forget,
            config=self.server.config,
            server_state=self.server.server_state,
            app_state=self.server.lifespan.state,
        )
        self.of_origin.setdefault(origin, {})[protocol] = None
        protocol.task = asyncio.create_task(self._open(protocol, connection))

    def _make_room(self, origin):
        """Whether one more connection from this origin is possible, perhaps in the place of a silent one."""
        own = self.of_origin.get(origin, {})
        if len(own) < self.per_origin and sum(map(len, self.of_origin.values())) < self.total:
            return True
        crowd = own if len(own) >= self.per_origin else max(self.of_origin.values(), key=len)
        oldest = next((protocol for protocol in crowd if protocol.is_silent), None)
        if oldest is None:
            logger.warning("All connections that one address may have are in use: one from %s was refused.", origin)
            return False
        self._forget(oldest)
        oldest.end()
        return True

    async def _open(self, protocol, connection):
        loop = asyncio.get_running_loop()
        try:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # a client may vanish without a word
            await loop.connect_accepted_socket(lambda: protocol, connection, ssl=self.ssl)
        except OSError:  # it was closed, or no TLS was spoken
            self._forget(protocol)

    def _forget(self, protocol):
        own = self.of_origin.get(protocol.origin, {})
        own.pop(protocol, None)
        if not own:
            self.of_origin.pop(protocol.origin, None)

    async def _sweep(self):
        """End connections whose client has kept them waiting for too long."""
        while True:
            await asyncio.sleep(TICK)
            now = time.monotonic()
            for protocol in [each for own in self.of_origin.values() for each in own if each.has_expired(now)]:
                self._forget(protocol)
                protocol.end()
