"""The instructor's page: settings, entries, withdrawals, new tokens, exports, the log. Forms without a script."""

import functools
import json
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request

from autograder.competition.leaderboard import audit, rules
from autograder.competition.leaderboard.phases import format_phases
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
    "rename": "The group has been renamed.",
    "merge": "The groups have been merged: all entries are those of this group now.",
    "delete": "The group is off the board. The log has its line.",
    "baseline": "The group is a baseline: it is displayed without a rank.",
    "ranked": "The group is ranked again.",
}

router = APIRouter(include_in_schema=False)


def _render_instructor(request, group=None, error=None, done=None, token=None, codes=None, to_confirm=None):
    """group: number of the one whose entries are listed; token: its new one. codes: new ones, to be displayed once.

    error: a RequestRefused to show. to_confirm: the settings of a form that needs a confirmation, or None.
    """
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
        deadline=_format_deadline(settings),
        to_confirm=to_confirm,
        is_closed=rules.now() >= settings.deadline,
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
        phases=format_phases(settings.phases, settings.time_zone),
        max_codes=rules.MAX_CODES,
        token=token,
        codes=codes,
        error=as_sentence(error) if error else None,
        done=done,
    )


def _format_deadline(settings):
    """The deadline as a form has it: to the minute, in the board's time zone."""
    return settings.deadline.astimezone(ZoneInfo(settings.time_zone)).strftime("%Y-%m-%dT%H:%M")


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
    except rules.ConfirmationNeeded:
        raise
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
    joining: Text = "code",
    choices: Text = "1",
    phases: Text = "",
    confirm: Text = "",
):
    """Change the settings. If the deadline moves, a page asks for a confirmation first."""
    changes = {"name": name, "code": code, "deadline": deadline, "time_zone": time_zone}
    changes |= {"joining": joining, "phases": phases, "choices": 2 if choices == "2" else 1}
    changes["per_day"] = int(per_day) if per_day.isdecimal() and len(per_day) < 9 else per_day

    def change(store):
        before = store.settings.read()
        if (deadline, time_zone) == (_format_deadline(before), before.time_zone):
            del changes["deadline"]  # the form has no seconds: the deadline was not touched
        store.settings.change(changes, is_confirmed=bool(confirm))

    try:
        return _change(request, visitor, "settings", change)
    except rules.ConfirmationNeeded as needed:
        return _render_instructor(request, error=needed, to_confirm=changes)


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


@router.post("/instructor/rename")
def rename(request: Request, visitor: AnyVisitor, group: FormNumber = 0, name: Text = ""):
    """Give a group another name."""
    return _change(request, visitor, "rename", lambda store: store.groups.rename(group, name), group=group)


@router.post("/instructor/merge")
def merge(request: Request, visitor: AnyVisitor, group: FormNumber = 0, into: FormNumber = 0):
    """Give all entries of a group to another one."""
    return _change(request, visitor, "merge", lambda store: store.groups.merge(group, into), group=into)


@router.post("/instructor/delete")
def delete(request: Request, visitor: AnyVisitor, group: FormNumber = 0):
    """Take a group off the board."""
    return _change(request, visitor, "delete", lambda store: store.groups.delete(group))


@router.post("/instructor/baseline")
def set_baseline(request: Request, visitor: AnyVisitor, group: FormNumber = 0, baseline: Text = ""):
    """Display a group without a rank, or rank it again."""
    done = "baseline" if baseline else "ranked"
    return _change(request, visitor, done, lambda store: store.groups.set_baseline(group, bool(baseline)), group=group)


@router.post("/instructor/codes")
def make_codes(request: Request, visitor: AnyVisitor, count: FormNumber = 0):
    """Make codes for one group each. They are in this answer only, and in no address."""
    return _show_once(request, visitor, lambda store: {"codes": store.groups.make_codes(count)})


@router.post("/instructor/token")
def renew_token(request: Request, visitor: AnyVisitor, group: FormNumber = 0):
    """A new token for a group. It is in this answer only, and in no address."""
    return _show_once(request, visitor, lambda store: {"group": group, "token": store.groups.renew_token(group)})


def _show_once(request, visitor, make):
    """Answer a form with secrets that are displayed this once: what `make(store)` returns, for `_render_instructor`."""
    try:
        require_instructor(visitor)
    except RequestRefused as error:
        return render_log_in(request, "instructor", error)
    try:
        return _render_instructor(request, **make(request.app.state.store))
    except RequestRefused as error:
        return _render_instructor(request, error=error)
