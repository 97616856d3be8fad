"""What a board answers to programs, and who asks: its JSON API, uploads and a stream of events.

Every rule is `store`'s and holds whatever asks. Nothing is scored here. Work on the database is done in threads, so
that events go on.
"""

import asyncio
import contextlib
import csv
import dataclasses
import io
import json
import threading
from typing import Annotated

import sqlalchemy as sql
from fastapi import APIRouter, Depends, Header, Request
from fastapi import Path as InPath
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect

from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.rules import Refused
from autograder.competition.leaderboard.store import Group, Store
from course.competition import scene

TICK = 0.5  # seconds between two looks whether there is something new to see
ALIVE = 15  # seconds between two signs of life in a stream of events
COOKIE = "board"  # holds the token of a group or the instructor, for pages
TOOK = {401: "no token, or not one of this board", 403: "not allowed", 404: "not there", 409: "not now"}
SAID = {"content": {"application/json": {"schema": {
    "type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]}}}}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Visitor:
    """Who asks: a Group, or None; and whether it is the instructor."""

    group: Group | None = None
    instructor: bool = False


# -- who asks


def by_token(request):
    """The Visitor whose token came with the request, in its header or a cookie, else None. Raises Refused."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        token = request.cookies.get(COOKIE)
        if token is None:
            return None
    token, store = token.strip(), request.app.state.store
    if store.is_instructor(token):
        return Visitor(instructor=True)
    group = store.group_of(token)
    if group is None and scheme.lower() == "bearer" and request.app.state.config.hub is None:  # it may be the Hub's
        raise Refused(
            "the token is not one of this board: use your group's, or ask your instructor for a new one.", 401
        )
    return Visitor(group) if group else None


async def visitor(request: Request):
    """The Visitor who asks: nobody in particular, where nothing says who. Raises Refused."""
    state = request.app.state
    if found := await run_in_threadpool(by_token, request):
        return found
    if state.config.hub and (person := await state.config.hub.identify(request)):
        group = person.group and await run_in_threadpool(state.store.group, person.group)
        return Visitor(group, person.instructor)
    return Visitor()


Asks = Annotated[Visitor, Depends(visitor)]


def own_group(visitor: Asks):
    """The Group that asks. Raises Refused."""
    if visitor.group is None:
        raise Refused("this needs the token of a group: join the board with the code of your instructor.", 401)
    return visitor.group


def instructor(visitor: Asks):
    """Raise Refused unless it is the instructor who asks."""
    if not visitor.instructor:
        status = 403 if visitor.group else 401
        raise Refused("this is the instructor's: it needs the token in the board's folder.", status)


def the_store(request: Request):
    return request.app.state.store


Own = Annotated[Group, Depends(own_group)]
Board = Annotated[Store, Depends(the_store)]
Number = Annotated[int, InPath(ge=1, le=2**31 - 1)]
FOR_GROUPS = {status: {"description": TOOK[status], **SAID} for status in TOOK}
FOR_INSTRUCTORS = {"dependencies": [Depends(instructor)], "responses": FOR_GROUPS, "tags": ["instructor"]}

router = APIRouter(prefix="/api", tags=["groups"])


class Strict(BaseModel):
    """A body in which nothing is taken for something else, and nothing may be that is not known."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Joining(Strict):
    name: str
    code: str


class Withdrawal(Strict):
    reason: str


class Freezing(Strict):
    frozen: bool


class Changes(Strict):
    """Settings to change; what is left out stays."""

    name: str | None = None
    code: str | None = None
    deadline: str | None = None
    per_day: int | None = None
    time_zone: str | None = None


# -- for groups


@router.post("/groups", status_code=201, responses={403: FOR_GROUPS[403], 409: FOR_GROUPS[409]})
def join(request: Request, body: Joining, store: Board):
    """Join with the instructor's code; the token is shown this once."""
    if request.app.state.config.hub:
        raise Refused("groups of this board are those of the JupyterHub: log in there.", 403)
    group, token = store.join(body.name, body.code)
    return {"group": group.id, "name": group.name, "token": token}


FILES = {name: {"type": "string", "format": "binary"} for name in (*scene.SPLITS, "notebook")}
EVIDENCE = ("ranks", "seconds")  # of an entry that was trained by several ranks: how many, and how long it took
UPLOAD = {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": {
    "type": "object", "required": list(FILES),
    "properties": FILES | {"ranks": {"type": "integer"}, "seconds": {"type": "number"}},
}}}}}  # fmt: skip


@router.post(
    "/entries",
    status_code=201,
    openapi_extra=UPLOAD,
    responses=FOR_GROUPS
    | {
        200: {"description": "it came before"},
        **{
            status: {"description": text, **SAID}
            for status, text in {413: "too large", 429: "too many today", 400: "no form", 408: "too slow"}.items()
        },
    },
)
async def enter(
    request: Request, group: Own, key: Annotated[str, Header(alias="Idempotency-Key", min_length=1, max_length=80)]
):
    """Hand in two maps, as np.save wrote them, and the notebook that made them. Sent again with the same key, the same
    entry is answered, and no second one made. When this has answered, the entry is on disk."""
    store, content = request.app.state.store, await upload(request)
    received = rules.now()  # the whole body is here

    def accept():
        number, new = store.accept(group.id, key, rules.entry(**content), received)
        return JSONResponse(one_of(store, group, number), 201 if new else 200)

    return await run_in_threadpool(accept)


async def upload(request):
    """The parts of an entry that came with a request, keywords for `rules.entry`. Raises Refused."""
    try:
        async with request.form(max_files=3, max_fields=2, max_part_size=1000) as form:
            parts = form.multi_items()
            found = {}
            for name, value in parts:
                if name not in (*FILES, *EVIDENCE) or name in found:
                    raise Refused(
                        f"the form has a part {name!r:.40} too many: it has {', '.join((*FILES, *EVIDENCE))}."
                    )
                found[name] = value if isinstance(value, str) else await value.read()
    except (MultiPartException, HTTPException) as error:
        said = getattr(error, "message", None) or error.detail
        raise Refused(f"the form cannot be read ({said.rstrip('.')}).", 400) from error
    except ClientDisconnect as error:
        raise Refused("the request broke off: send it again.", 400) from error
    for name in FILES:
        if not isinstance(found.get(name), bytes):
            raise Refused(f"the form has no file {name}: send the maps random and disjoint, and the notebook.")
    evidence = [found.pop(name, "") for name in EVIDENCE]
    return found | {"evidence": rules.evidence(*evidence)}


@router.get("/entries", responses=FOR_GROUPS)
def history(group: Own, store: Board):
    """What the group handed in, newest first, and how much it may still hand in today."""
    entries = [told(past) for past in store.history(group.id)]
    return {"group": group.name, "entries": entries, "left_today": store.left_today(group.id)}


@router.post("/entries/{entry}/choose", responses=FOR_GROUPS)
def choose(entry: Number, group: Own, store: Board):
    """Let an entry count instead of the last one; until the deadline."""
    store.choose(group.id, entry)
    return one_of(store, group, entry)


def one_of(store, group, number):
    """An entry of a group as the API tells it."""
    return next(told(past) for past in store.history(group.id) if past.id == number)


def told(past):
    """A store.Past as the API tells it."""
    told = {name: getattr(past, name) for name in ("id", "received", "counts", "chosen", "withdrawn", "receipt")}
    told |= {"scores": past.scores.get("public"), "private": past.scores.get("private"), "evidence": past.evidence}
    return told | {"verification": {"state": past.state, "said": past.said}}


# -- for all


@router.get("/standing", tags=["all"])
def get_standing(request: Request):
    """Who is how far, on both splits: verified entries first, the others below."""
    return Response(request.app.state.latest(), media_type="application/json")


class Latest:
    """The standing as JSON, made once for each version, however many ask."""

    def __init__(self, store):
        self.store, self.key, self.text, self.making = store, None, "", threading.Lock()

    def __call__(self):
        key = self.store.shown()
        with self.making:
            if key != self.key:
                self.key, self.text = key, json.dumps(standing(self.store), ensure_ascii=False)
            return self.text


def standing(store):
    """Who is how far, as the API tells it."""
    settings, part, version, counted, placed = store.seen()
    return {
        "version": version,
        "name": settings.name,
        "part": part,
        "final": part == "private" and all(each.state in rules.DONE for each in store.counting(part)),
        "frozen": settings.frozen,
        "deadline": rules.written(settings.deadline),
        "rows": {split: rows(split, counted, placed) for split in scene.SPLITS},
    }


def rows(split, counted, placed):
    """The rows of a split in their order: verified entries by rank, then those that may be, then those refused.

    rank: None for an entry that was refused, or that came since the last ranking.
    """
    found = [
        {
            "rank": placed.get((split, each.id)),
            "group": each.name,
            "entry": each.id,
            "received": each.received,
            "verified": each.state == "verified",
            "verification": {"state": each.state, "said": each.said},
            "evidence": each.evidence,
            **each.scores[split],
        }
        for each in counted
    ]

    def order(row):
        last = row["rank"] is None
        return not row["verified"], last, 0 if last else row["rank"], -row["overall"], row["entry"]

    return sorted(found, key=order)


class Events:
    """Tells all who listen when there is something new to see, at most every TICK seconds."""

    def __init__(self, store):
        self.store, self.shown, self.changed, self.ended = store, (0, ""), asyncio.Condition(), False

    async def watch(self):
        """Look, again and again; one look for all."""
        while True:
            with contextlib.suppress(sql.exc.SQLAlchemyError):  # it comes back
                shown = await run_in_threadpool(self.store.shown)
                if shown != self.shown:
                    async with self.changed:
                        self.shown = shown
                        self.changed.notify_all()
            await asyncio.sleep(TICK)

    async def end(self):
        """Let all streams end."""
        async with self.changed:
            self.ended = True
            self.changed.notify_all()

    async def stream(self):
        """Yield what is sent to one who listens: the version now, and each later one."""
        told = None
        while not self.ended:
            if self.shown != told:
                told = self.shown
                yield f"event: standing\ndata: {json.dumps({'version': told[0]})}\n\n"
            else:
                yield ": still here\n\n"
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ALIVE), self.changed:
                    await self.changed.wait_for(lambda told=told: self.ended or self.shown != told)


@router.get("/events", tags=["all"], response_class=StreamingResponse)
async def events(request: Request):
    """A stream of events (text/event-stream): `standing` with the version, whenever there is something new to see."""
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(request.app.state.events.stream(), media_type="text/event-stream", headers=headers)


# -- for the instructor


@router.get("/settings", **FOR_INSTRUCTORS)
def get_settings(store: Board):
    """What the instructor set."""
    settings = store.settings()
    return dataclasses.asdict(settings) | {"deadline": rules.written(settings.deadline)}


@router.put("/settings", **FOR_INSTRUCTORS)
def put_settings(body: Changes, store: Board):
    """Change some settings."""
    store.change(body.model_dump(exclude_none=True))
    return get_settings(store)


@router.post("/rescore", status_code=202, **FOR_INSTRUCTORS)
def rescore(store: Board):
    """Have all scores and ranks made anew, and those entries verified again that were not found to be good."""
    store.rescore()
    return {"said": "all scores and ranks are made anew."}


@router.post("/entries/{entry}/withdraw", **FOR_INSTRUCTORS)
def withdraw(entry: Number, body: Withdrawal, store: Board):
    """Take an entry out, for good, with a reason that its group sees."""
    store.withdraw(entry, body.reason)
    return {"entry": entry, "withdrawn": rules.line(body.reason, rules.LINE, "the reason")}


@router.post("/groups/{group}/token", **FOR_INSTRUCTORS)
def renew(group: Number, store: Board):
    """A new token for a group that has lost its own, or from which it was stolen; the old one no longer holds."""
    return {"group": group, "token": store.renew(group)}


@router.post("/freeze", **FOR_INSTRUCTORS)
def freeze(body: Freezing, store: Board):
    """Let nothing come in, or open the board again."""
    store.freeze(body.frozen)
    return {"frozen": body.frozen}


@router.get("/entries/{entry}/notebook", response_class=Response, **FOR_INSTRUCTORS)
def notebook(entry: Number, store: Board):
    """The notebook of an entry, as it came."""
    headers = {"Content-Disposition": f'attachment; filename="entry-{entry}.ipynb"'}
    return Response(store.file(entry, "notebook"), media_type="application/x-ipynb+json", headers=headers)


@router.get("/entries/{entry}/verdict", **FOR_INSTRUCTORS)
def verdict(entry: Number, store: Board):
    """What its verification found: each check, what is written out in its code, time and memory; part -> that."""
    return store.verdicts(entry)


@router.get("/export.csv", response_class=Response, **FOR_INSTRUCTORS)
def export(store: Board):
    """The standing as a table."""
    file = io.StringIO()
    write_csv(store, file)
    headers = {"Content-Disposition": 'attachment; filename="leaderboard.csv"'}
    return Response(file.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/audit", **FOR_INSTRUCTORS)
def read_log(store: Board):
    """The log: who did what, when, and the hash that chains it."""
    return {"lines": [dict(line._mapping) | {"detail": json.loads(line.detail)} for line in store.lines()]}


COLUMNS = ["part", "split", "rank", "group", "entry", "received", "verification", "overall", "low", "high", "average",
           "kappa", "ranks", "seconds"]  # fmt: skip


def write_csv(store, file):
    """Write the standing into a text file: a row a split and group, accuracies as fractions, classes' last."""
    from autograder.reports import grades_csv  # nbgrader comes with it, which takes seconds

    seen = standing(store)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*COLUMNS, *(f"recall: {scene.CLASSES[c]}" for c in range(1, len(scene.CLASSES)))])
    for split, each in seen["rows"].items():
        for row in each:
            evidence, state = row["evidence"] or {}, row["verification"]["state"]
            known = row | evidence | {"part": seen["part"], "split": split, "verification": state}
            recall = [row["recall"].get(c) for c in range(1, len(scene.CLASSES))]
            writer.writerow([grades_csv.safe(value) for value in [*(known.get(name) for name in COLUMNS), *recall]])
