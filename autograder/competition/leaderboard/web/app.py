"""The board as one application: API, pages and the log-in through a Hub, and the answers to all errors.

An error is one sentence: {"detail": "..."} for programs, a page for people.
"""

import asyncio
import contextlib
import dataclasses

import sqlalchemy as sql
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from autograder.competition.leaderboard.rules import RequestRefused
from autograder.competition.leaderboard.store import Store
from autograder.competition.leaderboard.store.database import explain
from autograder.competition.leaderboard.web import api, group_pages, instructor_pages, pages
from autograder.competition.leaderboard.web.events import Events
from autograder.competition.leaderboard.web.guesses import Guesses
from autograder.competition.leaderboard.web.latest import Latest
from autograder.competition.leaderboard.web.middleware import Headers, LimitBody, SameSite
from autograder.competition.leaderboard.web.templating import answer_problem

HTTP_ERRORS = {404: "there is nothing at this address.", 405: "this address does not take such a request."}


@dataclasses.dataclass(frozen=True)
class Config:
    """How a board is run: its store; hub: the hub.Hub that it is a service of, or None; prefix: of all its paths."""

    store: Store
    hub: object = None
    prefix: str = ""


def make_app(config):
    """The application of a board; its `state` has config, store, events, latest and guesses."""
    app = FastAPI(
        title="The leaderboard",
        description="What a group hands in, and what everybody may see. An error is one sentence.",
        lifespan=_lifespan,
        docs_url=None,  # these pages would load scripts from other sites
        redoc_url=None,
        responses={422: {"description": "a value cannot be used", **api.ERROR}},
    )
    app.state.config, app.state.store = config, config.store
    app.state.events, app.state.latest = Events(config.store), Latest(config.store)
    app.state.guesses = Guesses()
    for routes in (api, pages, group_pages, instructor_pages, config.hub):
        if routes:
            app.include_router(routes.router)
    for error, answer in (
        (RequestRefused, _refused),
        (RequestValidationError, _invalid),
        (HTTPException, _http_error),
        (sql.exc.OperationalError, _no_database),
    ):
        app.add_exception_handler(error, answer)
    app.add_middleware(SameSite)
    app.add_middleware(LimitBody)
    app.add_middleware(Headers, prefix=config.prefix)
    return app


@contextlib.asynccontextmanager
async def _lifespan(app):
    watching = asyncio.create_task(app.state.events.watch())
    yield
    watching.cancel()


def _refused(request, error):
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
    return answer_problem(request, str(error), error.status, headers)


def _invalid(request, error):
    first = error.errors()[0]
    where = " ".join(str(each) for each in first["loc"][1:])[:80] or str(first["loc"][0])
    return answer_problem(request, f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}.", 422)


def _http_error(request, error):
    message = HTTP_ERRORS.get(error.status_code, str(error.detail))
    return answer_problem(request, message, error.status_code, error.headers)


def _no_database(request, error):
    reason = explain(error, unknown="it does not answer")
    message = f"the board's database cannot be used now ({reason}). Tell your instructor, then send the same again."
    return answer_problem(request, message, 503)
