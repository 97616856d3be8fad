"""The board as one application: API, pages and the Hub's log-in, and what every request and every error passes.

Errors are one sentence: {"detail": "..."} for programs, a page for people.
"""

import asyncio
import contextlib
import dataclasses
from pathlib import Path
from urllib.parse import urlsplit

import sqlalchemy as sql
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from autograder.competition.leaderboard import api, pages
from autograder.competition.leaderboard.rules import Refused
from autograder.competition.leaderboard.store import Store

LARGEST = 6 * 2**20  # bytes in the body of a request
PASSED_OVER = 64 * 2**20  # bytes that are taken and thrown away behind the answer that they are too many
BODY_SECONDS = 60  # until a body must be there
IDLE_SECONDS = 3  # until what is thrown away must go on
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
HERE = {"same-origin", "none"}  # what a browser says of a request that no other site has made


@dataclasses.dataclass(frozen=True)
class Config:
    """What a board is started with: its folder, its store, and a hub.Hub and the path that it serves below, or none."""

    folder: Path
    store: Store
    hub: object = None
    prefix: str = ""


def make_app(config):
    """The application of the board that `config` names; its `state` has config, store, events and latest."""
    app = FastAPI(
        title="The leaderboard",
        description="What a group hands in, and what everybody may see. Errors are one sentence.",
        lifespan=_lifespan,
        docs_url=None,  # their pages fetch scripts from elsewhere
        redoc_url=None,
        responses={422: {"description": "something in it cannot be used", **api.SAID}},
    )
    app.state.config, app.state.store = config, config.store
    app.state.events, app.state.latest = api.Events(config.store), api.Latest(config.store)
    app.include_router(api.router)
    app.include_router(pages.router)
    if config.hub:
        app.include_router(config.hub.router)
    for error, answer in (
        (Refused, _refused),
        (RequestValidationError, _invalid),
        (HTTPException, _http),
        (sql.exc.OperationalError, _no_database),
    ):
        app.add_exception_handler(error, answer)
    app.add_middleware(SameSite)
    app.add_middleware(Bounded)
    app.add_middleware(Headers, prefix=config.prefix)
    return app


@contextlib.asynccontextmanager
async def _lifespan(app):
    watching = asyncio.create_task(app.state.events.watch())
    yield
    watching.cancel()


# -- errors


def problem(request, said, status, headers=None):
    """The answer that says what is wrong: a page to a browser that shows one, else JSON."""
    if pages.are_asked(request):
        return pages.problem(request, said, status, headers)
    return JSONResponse({"detail": said}, status, headers)


def _refused(request, error):
    return problem(request, str(error), error.status, {"WWW-Authenticate": "Bearer"} if error.status == 401 else None)


def _invalid(request, error):
    first = error.errors()[0]
    where = " ".join(str(each) for each in first["loc"][1:])[:80] or str(first["loc"][0])
    return problem(request, f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}.", 422)


def _http(request, error):
    said = {404: "there is nothing at this address.", 405: "this address does not take such a request."}
    return problem(request, said.get(error.status_code, str(error.detail)), error.status_code, error.headers)


def _no_database(request, error):
    return problem(request, "the board's database does not answer: send the same again.", 503)


# -- what every request passes


class Headers:
    """Adds to each answer what tells a browser to take nothing from elsewhere.

    Says also below which path the board is served, which a Hub's proxy leaves in the address.
    """

    def __init__(self, app, prefix):
        self.app, self.prefix = app, prefix

    async def __call__(self, scope, receive, send):
        if self.prefix and scope["type"] == "http":
            scope = scope | {"root_path": self.prefix}

        async def answer(message):
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                own = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                own.append((b"cache-control", b"no-store"))
                message["headers"] = [*message["headers"], *(each for each in own if each[0] not in there)]
            await send(message)

        await self.app(scope, receive, answer if scope["type"] == "http" else send)


class Bounded:
    """Refuses a request whose body is too large or too slow, while it comes, whatever it says of itself."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        loop, size, whole, status, started = asyncio.get_running_loop(), 0, False, None, False
        until = loop.time() + BODY_SECONDS
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > LARGEST:
            await self.refuse(413, scope, receive, send)
            return

        async def bounded():
            nonlocal size, whole, status
            if whole:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), until - loop.time())
            except TimeoutError:
                status = 408
                return {"type": "http.disconnect"}
            size += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if size > LARGEST:
                status = 413
                return {"type": "http.disconnect"}
            return message

        async def answer(message):
            nonlocal started
            if status is None:
                started = True
                await send(message)

        try:
            await self.app(scope, bounded, answer)
        except Exception:
            if status is None:
                raise
        if status is not None and not started:
            await self.refuse(status, scope, receive, send)

    @staticmethod
    async def refuse(status, scope, receive, send):
        """Answer at once, take what still comes for a while, and close the connection.

        A connection that is closed while its other end sends is reset, and the answer lost on the way.
        """
        said = {
            408: f"the request did not come to its end within {BODY_SECONDS} s: send it again.",
            413: f"the request has more than {LARGEST:,} bytes: clear the notebook's outputs and save it.",
        }[status]

        async def unfinished(message):
            await send(message | {"more_body": True} if message["type"] == "http.response.body" else message)

        await problem(Request(scope), said, status, {"Connection": "close"})(scope, receive, unfinished)
        size, more = 0, status == 413
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BODY_SECONDS):
                while more and size < PASSED_OVER:
                    message = await asyncio.wait_for(receive(), IDLE_SECONDS)
                    size += len(message.get("body", b""))
                    more = message.get("more_body", False)
        await send({"type": "http.response.body"})


class SameSite:
    """Refuses to change anything for a page of another site: browsers say where a request comes from."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            request = Request(scope)
            origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
            foreign = site is not None and site not in HERE
            foreign |= origin is not None and urlsplit(origin).netloc != request.headers.get("host")
            # who logs in by a cookie is a browser, and those say it
            unsaid = "cookie" in request.headers and "authorization" not in request.headers
            if foreign or (unsaid and origin is None and site is None):
                said = "this request came from another site: open the board itself and do it there."
                await problem(request, said, 403)(scope, receive, send)
                return
        await self.app(scope, receive, send)
