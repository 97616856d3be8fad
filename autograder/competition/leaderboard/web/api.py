"""The JSON API of a board: uploads, the standing, a group's own entries, and the instructor's part.

The store's rules hold for every request. Nothing is scored here. Everything that waits for the database runs in
threads, so that streams of events go on.
"""

import dataclasses
import json
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Request
from fastapi import Path as InPath
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect

from autograder.competition.leaderboard import formats, phases, rules
from autograder.competition.leaderboard.rules import RequestRefused
from autograder.competition.leaderboard.web.visitors import BoardStore, OwnGroup, require_instructor
from course.competition import scene

ERROR = {"content": {"application/json": {"schema": {
    "type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]}}}}  # fmt: skip


def describe_errors(**descriptions):
    """How OpenAPI describes errors: status_NNN="when it happens" for each."""
    return {int(status[-3:]): {"description": text, **ERROR} for status, text in descriptions.items()}


ERRORS = describe_errors(
    status_401="no token, or not one of this board",
    status_403="not allowed",
    status_404="not found",
    status_409="not possible now",
)
UPLOAD_ERRORS = describe_errors(
    status_400="not a form", status_408="too slow", status_413="too large", status_429="too many entries today"
)
GUESS_ERRORS = describe_errors(status_429="too many wrong codes or tokens")
ERRORS |= GUESS_ERRORS
FOR_INSTRUCTORS = {"dependencies": [Depends(require_instructor)], "responses": ERRORS, "tags": ["instructor"]}
Number = Annotated[int, InPath(ge=1, le=2**31 - 1)]

router = APIRouter(prefix="/api", tags=["groups"])


class Strict(BaseModel):
    """A request's body: no value is converted to another type, and unknown keys are an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Joining(Strict):
    name: str
    code: str


class Withdrawal(Strict):
    reason: str


class Note(Strict):
    note: str


class Members(Strict):
    members: str


class NewName(Strict):
    name: str


class Merging(Strict):
    into: int = Field(ge=1, le=2**31 - 1)


class Baseline(Strict):
    baseline: bool


class NewCodes(Strict):
    count: int


class Freezing(Strict):
    frozen: bool


class SettingsChanges(Strict):
    """Settings to change; those left out stay as they are. confirm: needed to move the deadline."""

    confirm: bool = False
    name: str | None = None
    code: str | None = None
    deadline: str | None = None
    per_day: int | None = None
    time_zone: str | None = None
    joining: str | None = None
    choices: int | None = None
    phases: str | None = None


# -- for groups


@router.post("/groups", status_code=201, responses={403: ERRORS[403], 409: ERRORS[409], 429: GUESS_ERRORS[429]})
def join(request: Request, body: Joining, store: BoardStore):
    """Join with the instructor's code. The group's token is in this answer only."""
    if request.app.state.config.hub:
        hub = request.app.state.config.hub
        raise RequestRefused(f"this board takes its groups from the JupyterHub: {hub.explain_token()}", 403)
    with request.app.state.guesses.guessing(request):
        group, token = store.groups.join(body.name, body.code)
    return {"group": group.id, "name": group.name, "token": token}


FILES = {name: {"type": "string", "format": "binary"} for name in (*scene.SPLITS, "notebook")}
EVIDENCE = ("ranks", "seconds")  # of an entry that several ranks trained: how many, and how long it took
UPLOAD = {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": {
    "type": "object", "required": list(FILES),
    "properties": FILES | {"ranks": {"type": "integer"}, "seconds": {"type": "number"}, "note": {"type": "string"}},
}}}}}  # fmt: skip


@router.post(
    "/entries",
    status_code=201,
    openapi_extra=UPLOAD,
    responses=ERRORS | UPLOAD_ERRORS | {200: {"description": "it came before"}},
)
async def hand_in(
    request: Request,
    group: OwnGroup,
    key: Annotated[str, Header(alias="Idempotency-Key", min_length=1, max_length=80)],
):
    """Hand in two maps, in NumPy's file format, the notebook that made them, and perhaps a note in your own words.

    The answer comes when the entry is on disk. The same request sent again with the same key makes no second entry and
    gets the same answer.
    """
    store, (content, note) = request.app.state.store, await read_upload(request)
    received = rules.now()  # the whole body is here

    def accept():
        number, is_new = store.entries.accept(group.id, key, rules.check_entry(**content), received, note)
        return JSONResponse(_own_entry(store, group, number), 201 if is_new else 200)

    return await run_in_threadpool(accept)


async def read_upload(request):
    """(the parts of an entry that came with a request, as keywords for `rules.check_entry`; the note on it).

    Raises RequestRefused.
    """
    known = (*FILES, *EVIDENCE, "note")
    try:
        async with request.form(max_files=3, max_fields=3, max_part_size=1000) as form:
            parts = {}
            for name, value in form.multi_items():
                if name not in known or name in parts:
                    raise RequestRefused(
                        f"the form has an unexpected part {name!r:.40}: send {', '.join(known)}, each once."
                    )
                parts[name] = value if isinstance(value, str) else await value.read()
    except (MultiPartException, HTTPException) as error:
        message = getattr(error, "message", None) or error.detail
        raise RequestRefused(f"the form cannot be read ({message.rstrip('.')}).", 400) from error
    except ClientDisconnect as error:
        raise RequestRefused("the connection dropped before the request was complete: send it again.", 400) from error
    for name in FILES:
        if not isinstance(parts.get(name), bytes):
            raise RequestRefused(f"the form has no file {name}: send the maps random and disjoint, and the notebook.")
    note = parts.pop("note", "")
    if not isinstance(note, str):
        raise RequestRefused("the note must be text, not a file.")
    evidence = [parts.pop(name, "") for name in EVIDENCE]
    return parts | {"evidence": rules.parse_evidence(*evidence)}, note


@router.get("/entries", responses=ERRORS)
def get_history(group: OwnGroup, store: BoardStore):
    """The group's entries, newest first, and how many more it may hand in today."""
    history = store.visible.read_history(group.id)
    entries = [formats.entry_as_json(past) for past in history.entries]
    return {"group": group.name, "entries": entries, "left_today": history.left_today}


@router.post("/entries/{entry}/choose", responses=ERRORS)
def choose(entry: Number, group: OwnGroup, store: BoardStore):
    """Make an entry count instead of the last one; until the deadline."""
    store.entries.choose(group.id, entry)
    return _own_entry(store, group, entry)


@router.post("/entries/{entry}/note", responses=ERRORS)
def annotate(entry: Number, body: Note, group: OwnGroup, store: BoardStore):
    """Write a note on an entry, which only the group and the instructor see."""
    store.entries.annotate(group.id, entry, body.note)
    return _own_entry(store, group, entry)


@router.put("/members", responses=ERRORS)
def put_members(body: Members, group: OwnGroup, store: BoardStore):
    """Set the names of the group's members, which everybody sees."""
    store.groups.set_members(group.id, body.members)
    return {"group": group.name, "members": store.groups.find_by_number(group.id).members}


def _own_entry(store, group, number):
    entries = store.visible.read_history(group.id).entries
    return next(formats.entry_as_json(past) for past in entries if past.id == number)


# -- for everybody


@router.get("/standing", tags=["all"])
def get_standing(request: Request):
    """The ranking on both splits: verified entries first, the others below."""
    latest = request.app.state.latest
    with latest.lock:
        return Response(latest.read().json, media_type="application/json")


@router.get("/events", tags=["all"], response_class=StreamingResponse)
async def get_events(request: Request):
    """A stream of events (text/event-stream): `standing` with its version whenever there is something new to see."""
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(request.app.state.events.stream(), media_type="text/event-stream", headers=headers)


# -- for the instructor


@router.get("/settings", **FOR_INSTRUCTORS)
def get_settings(store: BoardStore):
    """The settings."""
    return _settings_as_json(store.settings.read())


@router.put("/settings", **FOR_INSTRUCTORS)
def put_settings(body: SettingsChanges, store: BoardStore):
    """Change some settings. Moving the deadline needs `confirm`; without it the answer says what would happen."""
    changes = body.model_dump(exclude_none=True, exclude={"confirm"})
    try:
        return _settings_as_json(store.settings.change(changes, is_confirmed=body.confirm))
    except rules.ConfirmationNeeded as needed:
        raise RequestRefused(f'{needed} To confirm this, send the same with "confirm": true.', needed.status) from None


def _settings_as_json(settings):
    values = dataclasses.asdict(settings) | {"phases": phases.format_phases(settings.phases, settings.time_zone)}
    del values["deadline_set"]
    times = {"deadline": settings.deadline, "private_from": settings.private_from}
    return values | {name: rules.format_time(moment) for name, moment in times.items()}


@router.post("/rescore", status_code=202, **FOR_INSTRUCTORS)
def rescore(store: BoardStore):
    """Compute all scores and ranks again, and verify again all entries that are not verified."""
    store.work.rescore()
    return {"said": "all scores and ranks are computed again."}


@router.post("/entries/{entry}/withdraw", **FOR_INSTRUCTORS)
def withdraw(entry: Number, body: Withdrawal, store: BoardStore):
    """Withdraw an entry for good. Its group sees the reason."""
    return {"entry": entry, "withdrawn": store.entries.withdraw(entry, body.reason)}


@router.post("/groups/{group}/token", **FOR_INSTRUCTORS)
def renew_token(group: Number, store: BoardStore):
    """A new token for a group whose token was lost or stolen. The old one becomes invalid."""
    return {"group": group, "token": store.groups.renew_token(group)}


@router.post("/groups/{group}/rename", **FOR_INSTRUCTORS)
def rename(group: Number, body: NewName, store: BoardStore):
    """Give a group another name."""
    store.groups.rename(group, body.name)
    return {"group": group, "name": store.groups.find_by_number(group).name}


@router.post("/groups/{group}/merge", **FOR_INSTRUCTORS)
def merge(group: Number, body: Merging, store: BoardStore):
    """Give all entries of a group to another one. The first group is gone, and its token invalid."""
    store.groups.merge(group, body.into)
    return {"group": body.into}


@router.post("/groups/{group}/delete", **FOR_INSTRUCTORS)
def delete(group: Number, store: BoardStore):
    """Take a group and its entries off the board for good."""
    store.groups.delete(group)
    return {"deleted": group}


@router.post("/groups/{group}/baseline", **FOR_INSTRUCTORS)
def set_baseline(group: Number, body: Baseline, store: BoardStore):
    """Display a group without a rank, for comparison; or rank it again."""
    store.groups.set_baseline(group, body.baseline)
    return {"group": group, "baseline": body.baseline}


@router.post("/codes", status_code=201, **FOR_INSTRUCTORS)
def make_codes(body: NewCodes, store: BoardStore):
    """Make codes for one group each; from then on groups join with such codes only. They are in this answer only."""
    return {"codes": store.groups.make_codes(body.count)}


@router.post("/freeze", **FOR_INSTRUCTORS)
def freeze(body: Freezing, store: BoardStore):
    """Accept no more entries, or accept them again."""
    store.settings.freeze(body.frozen)
    return {"frozen": body.frozen}


@router.get("/entries/{entry}/notebook", response_class=Response, **FOR_INSTRUCTORS)
def get_notebook(entry: Number, store: BoardStore):
    """The notebook of an entry, as it was handed in."""
    headers = {"Content-Disposition": f'attachment; filename="entry-{entry}.ipynb"'}
    content = store.entries.read_file(entry, "notebook")
    return Response(content, media_type="application/x-ipynb+json", headers=headers)


@router.get("/entries/{entry}/verdict", **FOR_INSTRUCTORS)
def get_verdict(entry: Number, store: BoardStore):
    """The result of its verification on each part: every check, large literals in its code, time and memory."""
    return store.entries.read_verdicts(entry)


@router.get("/export.csv", response_class=Response, **FOR_INSTRUCTORS)
def export(store: BoardStore):
    """The standing as a table."""
    table = formats.standing_as_csv(store.visible.read_standing())
    headers = {"Content-Disposition": 'attachment; filename="leaderboard.csv"'}
    return Response(table, media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/audit", **FOR_INSTRUCTORS)
def get_log(store: BoardStore):
    """The log: who did what and when, and the hashes that chain the lines."""
    return {"lines": [dict(line._mapping) | {"detail": json.loads(line.detail)} for line in store.log.read_lines()]}
