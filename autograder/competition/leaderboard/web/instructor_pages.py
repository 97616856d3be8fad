"""The instructor's page: settings, entries, withdrawals, new tokens, exports, the log. Forms without a script."""

import functools
import json
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request

from autograder.competition.leaderboard import audit
from autograder.competition.leaderboard.rules import RequestRefused
from autograder.competition.leaderboard.web.group_pages import FormNumber, Text, render_log_in
from autograder.competition.leaderboard.web.templating import as_sentence, format_local, redirect, render
from autograder.competition.leaderboard.web.visitors import AnyVisitor, require_instructor

LINES = 50  # of the log, on the page
DONE = {
    "settings": "The settings have been changed.",
    "rescore": "All scores and ranks are being computed again; they appear on the wall as they are ready.",
    "freeze": "The board is frozen: no entries are accepted.",
    "open": "The board is open again.",
    "withdraw": "The entry has been withdrawn; its group sees the reason.",
}

router = APIRouter(include_in_schema=False)


def _render_instructor(request, group=None, error=None, done=None, token=None):
    """group: number of the one whose entries are listed; token: its new one. error: a RequestRefused to show."""
    state = request.app.state
    view = state.store.visible.read_instructor_view(group, state.latest.cached_standing)
    settings = view.standing.settings
    return render(
        request,
        "instructor.html",
        error.status if error else 200,
        name=settings.name,
        here="instructor",
        settings=settings,
        deadline=settings.deadline.astimezone(ZoneInfo(settings.time_zone)).strftime("%Y-%m-%dT%H:%M"),
        part=view.standing.part,
        is_final=view.standing.is_final,
        groups=view.groups,
        counting=view.counting,
        group=view.group,
        entries=view.entries,
        line_count=len(view.lines),
        lines=[(line, json.loads(line.detail)) for line in view.lines[: -LINES - 1 : -1]],
        faults=[as_sentence(fault) for fault in audit.find_broken_line(view.lines)],
        local=functools.partial(format_local, time_zone=settings.time_zone),
        token=token,
        error=as_sentence(error) if error else None,
        done=done,
    )


@router.get("/instructor")
def get_instructor(request: Request, visitor: AnyVisitor, group: str = "", done: str = ""):
    """The instructor's page, or the form to log in."""
    if not visitor.is_instructor:
        return render_log_in(request, "instructor")
    number = int(group) if group.isdecimal() and len(group) < 9 else None
    return _render_instructor(request, number, done=DONE.get(done))


def _change(request, visitor, done, change, **query):
    """Answer a form of the instructor's: call `change(store)` and show the page again. done: a key of DONE."""
    try:
        require_instructor(visitor)
    except RequestRefused as error:
        return render_log_in(request, "instructor", error)
    try:
        change(request.app.state.store)
    except RequestRefused as error:
        return _render_instructor(request, **query, error=error)
    return redirect(request, "instructor", done=done, **query)


@router.post("/instructor/settings")
def change_settings(
    request: Request,
    visitor: AnyVisitor,
    name: Text = "",
    code: Text = "",
    deadline: Text = "",
    per_day: Text = "",
    time_zone: Text = "",
):
    """Change the settings."""
    changes = {"name": name, "code": code, "deadline": deadline, "time_zone": time_zone}
    changes["per_day"] = int(per_day) if per_day.isdecimal() and len(per_day) < 9 else per_day
    return _change(request, visitor, "settings", lambda store: store.settings.change(changes))


@router.post("/instructor/rescore")
def rescore(request: Request, visitor: AnyVisitor):
    """Compute all scores and ranks again."""
    return _change(request, visitor, "rescore", lambda store: store.work.rescore())


@router.post("/instructor/freeze")
def freeze(request: Request, visitor: AnyVisitor, frozen: Text = ""):
    """Accept no more entries, or accept them again."""
    done = "freeze" if frozen else "open"
    return _change(request, visitor, done, lambda store: store.settings.freeze(bool(frozen)))


@router.post("/instructor/withdraw")
def withdraw(
    request: Request,
    visitor: AnyVisitor,
    entry: FormNumber = 0,
    group: FormNumber = 0,
    reason: Text = "",
):
    """Withdraw an entry."""
    return _change(request, visitor, "withdraw", lambda store: store.entries.withdraw(entry, reason), group=group)


@router.post("/instructor/token")
def renew_token(request: Request, visitor: AnyVisitor, group: FormNumber = 0):
    """A new token for a group. It is in this answer only, and in no address."""
    try:
        require_instructor(visitor)
    except RequestRefused as error:
        return render_log_in(request, "instructor", error)
    try:
        return _render_instructor(request, group, token=request.app.state.store.groups.renew_token(group))
    except RequestRefused as error:
        return _render_instructor(request, error=error)
