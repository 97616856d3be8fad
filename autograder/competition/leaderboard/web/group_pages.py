"""The pages of a group: join, log in, see its history, hand in, choose. Forms that work without a script.

A form calls the same functions as the API, under the same checks of who sends it and from where.
"""

import functools
import secrets
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.concurrency import run_in_threadpool

from autograder.competition import bounds
from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.rules import RequestRefused
from autograder.competition.leaderboard.web.api import read_upload
from autograder.competition.leaderboard.web.templating import (
    as_sentence,
    format_local,
    get_root,
    make_join_address,
    redirect,
    render,
)
from autograder.competition.leaderboard.web.visitors import COOKIE, AnyVisitor, require_group

LOG_IN_SECONDS = 180 * 86400  # a browser stays logged in
DONE = {
    "handed-in": "Entry {} has been received and is on disk. It will be scored, and appear on the wall, within about a "
    "minute.",
    "chosen": "Entry {} counts now.",
    "noted": "The note on entry {} has been saved.",
    "members": "The members have been saved.",
}
UNKNOWN_TOKEN = (
    "this token is not one of this board. A group's token is displayed when the group joins; the instructor’s is in "
    "the board’s folder."
)

Text = Annotated[str, Form()]
FormNumber = Annotated[int, Form(ge=0, le=2**31 - 1)]
router = APIRouter(include_in_schema=False)


def render_log_in(request, here, error=None):
    """The page for a visitor who is not logged in. here: "join", "group" or "instructor". error: a RequestRefused."""
    settings, hub = request.app.state.store.settings.read(), request.app.state.config.hub
    return render(
        request,
        "enter.html",
        error.status if error else 200,
        name=settings.name,
        here=here,
        error=as_sentence(error) if error else None,
        hub=hub and hub.entrance,
        join_address=make_join_address(str(request.base_url)) if settings.joining != "closed" else None,
    )


def _remember(response, request, token):
    """Log a browser in."""
    secure = request.url.scheme == "https"
    response.set_cookie(
        COOKIE, token, LOG_IN_SECONDS, path=get_root(request) or "/", secure=secure, httponly=True, samesite="strict"
    )
    return response


@router.get("/join")
def get_join(request: Request):
    """A form for a new group."""
    return render_log_in(request, "join")


@router.post("/join")
def join(request: Request, name: Text = "", code: Text = ""):
    """A new group: its token is displayed this once, and the browser is logged in."""
    store = request.app.state.store
    try:
        with request.app.state.guesses.guessing(request):
            group, token = store.groups.join(name, code)
    except RequestRefused as error:
        return render_log_in(request, "join", error)
    values = {"group": group, "token": token, "address": str(request.base_url).rstrip("/")}
    page = render(request, "joined.html", 201, name=store.settings.read().name, here="join", **values)
    return _remember(page, request, token)


@router.post("/log-in")
def log_in(request: Request, token: Text = ""):
    """Log in a group or the instructor by token."""
    store, token = request.app.state.store, token.strip()
    if store.settings.is_instructor(token):
        return _remember(redirect(request, "instructor"), request, token)
    if store.groups.find_by_token(token):
        return _remember(redirect(request, "group"), request, token)
    try:
        request.app.state.guesses.count_wrong(request)
    except RequestRefused as error:
        return render_log_in(request, "group", error)
    return render_log_in(request, "group", RequestRefused(UNKNOWN_TOKEN, 403))


@router.post("/log-out")
def log_out(request: Request):
    """Log the browser out."""
    response = redirect(request, "")
    response.delete_cookie(COOKIE, path=get_root(request) or "/", httponly=True, samesite="strict")
    if request.app.state.config.hub:
        request.app.state.config.hub.forget(response)
    return response


def _render_group(request, group, error=None, done=None):
    """The group's own page. error: a RequestRefused to show on it."""
    state = request.app.state
    view = state.store.visible.read_group_view(group.id, state.latest.cached_standing)
    settings = view.standing.settings
    return render(
        request,
        "group.html",
        error.status if error else 200,
        name=settings.name,
        here="group",
        group=group,
        standing=view.standing,
        history=view.history,
        settings=settings,
        part=view.standing.part,
        limit=rules.find_limit(settings, rules.now()),
        is_closed=rules.now() >= settings.deadline,
        bounds=bounds.describe(),
        max_notebook_mb=rules.MAX_NOTEBOOK // 2**20,
        local=functools.partial(format_local, time_zone=settings.time_zone),
        key=secrets.token_urlsafe(16),
        error=as_sentence(error) if error else None,
        done=done,
    )


@router.get("/group")
def get_group(request: Request, visitor: AnyVisitor, done: str = "", entry: str = ""):
    """A group's standing and history, and the form for its next entry."""
    if visitor.group is None:
        return render_log_in(request, "group")
    message = DONE[done].format(entry) if done in DONE and (entry.isdecimal() or done == "members") else None
    return _render_group(request, visitor.group, done=message)


@router.post("/group/hand-in")
async def hand_in(request: Request, visitor: AnyVisitor, key: str = ""):
    """An entry by upload. A form that is sent twice makes one entry."""
    store = request.app.state.store

    def accept(content, received, note):
        return store.entries.accept(visitor.group.id, key, rules.check_entry(**content), received, note)[0]

    try:
        require_group(visitor)
        content, note = await read_upload(request)
        number = await run_in_threadpool(accept, content, rules.now(), note)  # the whole body is here
    except RequestRefused as error:
        return await run_in_threadpool(_refuse, request, visitor.group, error)
    return redirect(request, "group", done="handed-in", entry=number)


@router.post("/group/choose")
def choose(request: Request, visitor: AnyVisitor, entry: FormNumber = 0):
    """Make an entry count."""
    try:
        request.app.state.store.entries.choose(require_group(visitor).id, entry)
    except RequestRefused as error:
        return _refuse(request, visitor.group, error)
    return redirect(request, "group", done="chosen", entry=entry)


@router.post("/group/note")
def annotate(request: Request, visitor: AnyVisitor, entry: FormNumber = 0, note: Text = ""):
    """Write a note on an entry."""
    try:
        request.app.state.store.entries.annotate(require_group(visitor).id, entry, note)
    except RequestRefused as error:
        return _refuse(request, visitor.group, error)
    return redirect(request, "group", done="noted", entry=entry)


@router.post("/group/members")
def set_members(request: Request, visitor: AnyVisitor, members: Text = ""):
    """Set the names of the members."""
    try:
        request.app.state.store.groups.set_members(require_group(visitor).id, members)
    except RequestRefused as error:
        return _refuse(request, visitor.group, error)
    return redirect(request, "group", done="members")


def _refuse(request, group, error):
    return render_log_in(request, "group", error) if group is None else _render_group(request, group, error)
