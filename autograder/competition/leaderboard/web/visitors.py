"""Who sends a request: a group, the instructor, or nobody in particular. FastAPI's dependencies for the routes."""

import dataclasses
from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from autograder.competition.leaderboard.rules import RequestRefused
from autograder.competition.leaderboard.store import Store
from autograder.competition.leaderboard.store.groups import Group

COOKIE = "board"  # holds the token of a group or of the instructor, for pages


@dataclasses.dataclass(frozen=True)
class Visitor:
    """Who sends a request: a Group, or None; and whether it is the instructor."""

    group: Group | None = None
    is_instructor: bool = False


def _identify_by_token(request):
    """The Visitor whose token came with the request, in its header or a cookie, or None. Raises RequestRefused."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        token = request.cookies.get(COOKIE)
        if token is None:
            return None
    token, store = token.strip(), request.app.state.store
    if store.settings.is_instructor(token):
        return Visitor(is_instructor=True)
    group = store.groups.find_by_token(token)
    may_be_the_hubs = request.app.state.config.hub is not None
    if group is None and not may_be_the_hubs:
        request.app.state.guesses.count_wrong(request)
    if group is None and scheme.lower() == "bearer" and not may_be_the_hubs:
        raise RequestRefused(
            "the token is not one of this board: use your group's, or ask your instructor for a new one.", 401
        )
    return Visitor(group) if group else None


async def identify_visitor(request: Request):
    """The Visitor who sends the request; without a token or a log-in it is nobody. Raises RequestRefused."""
    state = request.app.state
    if visitor := await run_in_threadpool(_identify_by_token, request):
        return visitor
    has_token = COOKIE in request.cookies or "authorization" in request.headers
    if state.config.hub and (person := await state.config.hub.identify(request)):
        group = person.group and await run_in_threadpool(state.store.groups.find_by_number, person.group)
        return Visitor(group, person.is_instructor)
    if state.config.hub and has_token:
        state.guesses.count_wrong(request)
    return Visitor()


AnyVisitor = Annotated[Visitor, Depends(identify_visitor)]


def require_group(visitor: AnyVisitor):
    """The Group that sends the request. Raises RequestRefused."""
    if visitor.group is None:
        raise RequestRefused("a group's token is missing: join the board with your instructor's code first.", 401)
    return visitor.group


def require_instructor(visitor: AnyVisitor):
    """Raise RequestRefused unless the instructor sends the request."""
    if not visitor.is_instructor:
        status = 403 if visitor.group else 401
        raise RequestRefused("only the instructor may do this: use the token in the board's folder.", status)


def _find_store(request: Request):
    return request.app.state.store


OwnGroup = Annotated[Group, Depends(require_group)]
BoardStore = Annotated[Store, Depends(_find_store)]
