"""What every request passes through: headers for browsers, limits on the body, and no changes from other sites.

Written as plain ASGI applications, since they must act while a body arrives. Reads and writes nothing.
"""

import asyncio
import contextlib
from urllib.parse import urlsplit

from fastapi import Request

from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.web.templating import answer_problem

MAX_DISCARDED = 64 * 2**20  # bytes that are received and thrown away after the answer that a body is too large
BODY_SECONDS = 60  # within which a body must be complete
IDLE_SECONDS = 3  # without a byte, after which no more is thrown away
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
OWN_SITES = {"same-origin", "none"}  # Sec-Fetch-Site of a request that no other site made


class Headers:
    """Adds the headers that forbid a browser to load anything from other sites.

    It also tells the application its root path, which a Hub's proxy leaves in the address.
    """

    def __init__(self, app, prefix):
        self.app, self.prefix = app, prefix

    async def __call__(self, scope, receive, send):
        if self.prefix and scope["type"] == "http":
            scope = scope | {"root_path": self.prefix}

        async def answer(message):
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                own = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                own.append((b"cache-control", b"no-store"))
                message["headers"] = [*message["headers"], *(each for each in own if each[0] not in present)]
            await send(message)

        await self.app(scope, receive, answer if scope["type"] == "http" else send)


class LimitBody:
    """Refuses a request whose body is too large or too slow while it arrives, whatever its headers say."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > rules.MAX_BODY:
            await _refuse_body(413, scope, receive, send)
            return
        body, has_answered = _Body(receive), False

        async def answer(message):
            nonlocal has_answered
            if body.status is None:
                has_answered = True
                await send(message)

        try:
            await self.app(scope, body.receive, answer)
        except Exception:
            if body.status is None:
                raise
        if body.status is not None and not has_answered:
            await _refuse_body(body.status, scope, receive, send)


class _Body:
    """Counts a body while the application receives it. status: of the refusal, or None while all is well."""

    def __init__(self, receive):
        self._receive, self._size, self._is_complete, self.status = receive, 0, False, None
        self._end = asyncio.get_running_loop().time() + BODY_SECONDS

    async def receive(self):
        if self._is_complete:
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), self._end - asyncio.get_running_loop().time())
        except TimeoutError:
            self.status = 408
            return {"type": "http.disconnect"}
        self._size += len(message.get("body", b""))
        self._is_complete = not message.get("more_body", False)
        if self._size > rules.MAX_BODY:
            self.status = 413
            return {"type": "http.disconnect"}
        return message


async def _refuse_body(status, scope, receive, send):
    """Answer at once, receive what still arrives for a while, and close the connection.

    A connection that is closed while its other end sends is reset, and the answer would be lost on the way.
    """
    message = {
        408: f"the request was not complete within {BODY_SECONDS} s: send it again.",
        413: f"the request has more than {rules.MAX_BODY:,} bytes: clear the notebook's outputs and save it.",
    }[status]

    async def unfinished(part):
        await send(part | {"more_body": True} if part["type"] == "http.response.body" else part)

    answer = answer_problem(Request(scope), message, status, {"Connection": "close"})
    await answer(scope, receive, unfinished)
    size, has_more = 0, status == 413
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(BODY_SECONDS):
            while has_more and size < MAX_DISCARDED:
                part = await asyncio.wait_for(receive(), IDLE_SECONDS)
                size += len(part.get("body", b""))
                has_more = part.get("more_body", False)
    await send({"type": "http.response.body"})


class SameSite:
    """Refuses changes that a page of another site requests: browsers say where a request comes from."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            request = Request(scope)
            if _comes_from_another_site(request):
                message = "this request came from another site: open the board itself and do it there."
                await answer_problem(request, message, 403)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def _comes_from_another_site(request):
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if site is not None and site not in OWN_SITES:
        return True
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        return True
    # Only browsers log in by a cookie, and a browser sends at least one of the two headers.
    has_cookie_only = "cookie" in request.headers and "authorization" not in request.headers
    return has_cookie_only and origin is None and site is None
