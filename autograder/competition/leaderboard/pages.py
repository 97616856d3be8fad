"""The pages of the board: HTML made here, of what `views` gives; forms that work without a script.

A form does what the API does, by the same functions, and under the same checks of who asks and from where. Whatever
people wrote is escaped.
"""

import dataclasses
import functools
import hashlib
import json
import math
import secrets
import threading
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import numpy as np
from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool

from autograder.competition.leaderboard import api, audit, pictures, rules, views
from autograder.competition.leaderboard.rules import Refused
from course.competition import scene

HERE = Path(__file__).parent
ROWS = 10  # on a page of the standing: as many as can be read from the back of a room
LINES = 50  # of the log, on the instructor's page
KEPT = 64  # pages of the wall that are kept, since two hundred browsers ask for the same one
REMEMBERED = 180 * 86400  # seconds that a browser stays logged in
ABOUT = {
    "random": "trained on a tenth of the pixels, at random",
    "disjoint": "trained on fields apart from the test",
}
STATES = {
    "none": "not verified",
    "waiting": "not verified yet",
    "running": "being verified",
    "verified": "verified",
    "refused": "refused",
    "flagged": "to be looked at",
}
BELOW = "Not verified: the board has not made these maps itself; {}"
UNKNOWN = (
    "the token is not one of this board: it is shown when a group joins, and the instructor’s when the board starts."
)

STATIC = {
    "style.css": "text/css",
    "board.js": "text/javascript",
    "htmx.min.js": "text/javascript",
    "htmx.LICENSE.txt": "text/plain",
    "icon.svg": "image/svg+xml",
}

router = APIRouter(include_in_schema=False)
_one = threading.Lock()  # two hundred browsers ask at the same moment, and one answer is made for all


def seconds(value):
    """A number of seconds as short as it can be read."""
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def slug(name):
    """A part of an id that any name has for itself."""
    return hashlib.sha256(name.encode()).hexdigest()[:12]


def time_left(total):
    """So many seconds in words, by the two largest units."""
    units = [(86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")]
    first = next((i for i, (size, _) in enumerate(units) if total >= size), len(units) - 1)
    counts = []
    for size, unit in units[first : first + 2]:
        count, total = divmod(int(total), size)
        counts.append(f"{count} {unit}{'s' * (count != 1)}")
    return " ".join(counts)


@functools.cache
def _templates():
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {"slug": slug, "seconds": seconds, "state": STATES.get}
    names = ("interval", "interval_axis", "share", "swatch")
    environment.globals |= {name: getattr(pictures, name) for name in names}
    return environment


def root_of(request):
    """The path below which the board is served, without its last slash."""
    return request.scope.get("root_path", "").rstrip("/")


def page(request, template, status=200, **values):
    """The answer that `templates/TEMPLATE` makes of `values`."""
    values = {"root": root_of(request), "wrong": None, "done": None, "here": ""} | values
    return HTMLResponse(_templates().get_template(template).render(values), status)


def are_asked(request):
    """Whether a browser asks that shows the answer to a person."""
    path = request.url.path.removeprefix(root_of(request))
    return "text/html" in request.headers.get("accept", "") and not path.startswith("/api/")


def problem(request, said, status, headers):
    """The page that says what is wrong; it needs no database."""
    response = page(request, "problem.html", status, name="The leaderboard", here=None, said=_said(said))
    response.headers.update(headers or {})
    return response


def back(request, path, **query):
    """The answer to a form that has done what it should: the page `path`, by GET, so that a reload sends nothing."""
    query = f"?{urlencode(query)}" if query else ""
    return RedirectResponse(f"{root_of(request)}/{path}{query}", 303)


@dataclasses.dataclass(frozen=True)
class Panel:
    """One split on the wall. sections: (heading or None, rows) of the page that is shown; first: who is first."""

    split: str
    about: str
    rows: list
    page: int
    pages: int
    begin: int
    end: int
    sections: list
    shared: set
    first: list


@dataclasses.dataclass(frozen=True)
class Focus:
    """The group that is shown at large."""

    said: str
    maps: list
    recall: list
    charts: list


class Wall:
    """All that the wall shows beside the standing. map_at: (entry, split) -> its map as it may be seen now."""

    def __init__(self, standing, progress, map_at, root="", group=None, page=None):
        self.standing, self.root, self.map_at = standing, root, map_at
        everyone = [row for rows in standing.rows.values() for row in rows]
        self.groups = sorted({row.group for row in everyone}, key=str.casefold)
        self.asked = group if group in self.groups else None
        leaders = standing.rows["disjoint"] or standing.rows["random"]
        self.group = self.asked or (leaders[0].group if leaders else None)
        self.query = self.link(page)[len(root) + 1 :]
        self.evidence = any(row.evidence for row in everyone)
        self.axis = pictures.Axis([value for row in everyone for value in (row.low, row.high)])
        self.seconds_left = math.ceil((standing.deadline - standing.now).total_seconds())
        self.left = time_left(max(self.seconds_left, 0))
        self.panels = [self._panel(split, page) for split in scene.SPLITS]
        self.focus = self._focus(progress) if self.group else None
        if not self.group:
            self.truth = self._maps({})[0]
            counts = np.bincount(scene.load()[1].ravel())
            self.classes = [(c, name, counts[c]) for c, name in enumerate(scene.CLASSES) if c]

    def link(self, page=None):
        """The wall's address with the group that was asked for, on this page of the standing."""
        query = {"group": self.asked, "page": page}
        query = urlencode({key: value for key, value in query.items() if value})
        return f"{self.root}/?{query}" if query else f"{self.root}/"

    def map_of(self, row, split):
        """The address of a map; another one when another is to be seen."""
        return f"{self.root}/map/{row.entry}/{split}.png?{self.standing.part}-{row.state}"

    def _panel(self, split, page):
        rows = self.standing.rows[split]
        pages = max(1, -(-len(rows) // ROWS))
        if page is None:
            page = next((i // ROWS + 1 for i, row in enumerate(rows) if row.group == self.asked), 1)
        page = min(max(page, 1), pages)
        begin = (page - 1) * ROWS
        shown = rows[begin : begin + ROWS]
        others = [row for row in shown if not row.verified]
        below = BELOW.format("ranks are as if it had" if any(row.rank for row in others) else "they have no rank")
        sections = [(None, [row for row in shown if row.verified]), (below, others)]
        return Panel(
            split=split,
            about=ABOUT[split],
            rows=rows,
            page=page,
            pages=pages,
            begin=begin,
            end=begin + len(shown),
            sections=[section for section in sections if section[1]],
            shared={row.group for row in shown if row.rank and self.standing.shared(split, row)},
            first=[row.group for row in rows if (row.verified, row.rank) == (rows[0].verified, 1)],
        )

    def _focus(self, progress):
        rows = {split: self.standing.row(split, self.group) for split in scene.SPLITS}
        times = [at for lines in progress.values() for line in lines.values() for at, _ in line]
        span = (min(times), max(*times, min(self.standing.now, self.standing.deadline))) if times else ()
        return Focus(
            said=self._said(rows),
            maps=self._maps(rows),
            recall=self._recall(rows),
            charts=[
                (split, pictures.progress(progress[split], split, self.group, self.standing.shown, *span))
                for split in scene.SPLITS
            ],
        )

    def _said(self, rows):
        """How the group stands, in words."""
        said = []
        for split, row in rows.items():
            if row and row.rank:
                shared = ", shared" * self.standing.shared(split, row)
                said.append(f"{split.capitalize()} split: rank {row.rank}{shared}.")
        row = next(row for row in rows.values() if row)
        said.append(f"{STATES[row.state].capitalize()}.")
        if row.evidence:
            ranks, took = row.evidence["ranks"], seconds(row.evidence["seconds"])
            said.append(f"{ranks} rank{'s' * (ranks > 1)}, {took} s to its accuracy.")
        return " ".join(said)

    def _maps(self, rows):
        """The ground truth, and the group's maps beside it."""
        truth = scene.load()[1]
        shown = [(f"{self.root}/map/truth.png", "Ground truth", *_in_words(truth.tobytes(), "Ground truth"))]
        blank = " The private part of the test is left blank until the deadline." * (self.standing.part == "public")
        for split, row in rows.items():
            if row:
                drawn, name = self.map_at(row.entry, split), f"The map of {self.group} for the {split} split"
                text, numbers = _in_words(drawn.tobytes(), name)
                text += f" Of the scored pixels {100 * row.overall:.1f}% are right.{blank}"
                shown.append((self.map_of(row, split), f"{split.capitalize()} split", text, numbers))
        return [dict(zip(("url", "caption", "text", "numbers"), each, strict=True)) for each in shown]

    @staticmethod
    def _recall(rows):
        """(class, its name, [(split, accuracy or None)]) of each class."""
        return [
            (c, name, [(split, row.recall.get(c) if row else None) for split, row in rows.items()])
            for c, name in enumerate(scene.CLASSES)
            if c
        ]


@functools.lru_cache(maxsize=512)
def _in_words(drawn, name):
    """(text, numbers to lie over it) of a map, as bytes."""
    drawn = np.frombuffer(drawn, np.uint8).reshape(scene.SHAPE)
    return pictures.map_text(drawn, name), pictures.map_numbers(drawn)


@functools.lru_cache(maxsize=1024)
def _png(drawn):
    return pictures.map_png(np.frombuffer(drawn, np.uint8).reshape(scene.SHAPE))


# -- the wall


def latest(app):
    """(Standing, progress, maps by entry, pages) as they are now, made anew only where there is something new."""
    with _one:
        store, kept = app.state.store, getattr(app.state, "wall", None)
        if kept is None or (kept[0].version, kept[0].part) != store.shown():
            kept = app.state.wall = views.standing(store), views.progress(store), {}, {}
    return dataclasses.replace(kept[0], now=rules.now()), *kept[1:]


def map_of(store, standing, maps, entry, split):
    """The map of an entry on the wall, as it may be seen now. maps: those that are known. Raises Refused for others."""
    if entry not in maps:
        if all(row.entry != entry for row in standing.rows["random"]):
            raise Refused("there is no such map on the wall.", 404)
        maps[entry] = {each: views.map_of(store, entry, each, standing.part) for each in scene.SPLITS}
    return maps[entry][split]


@router.get("/")
def the_wall(request: Request, group: str | None = None, page_of: Annotated[str | None, Query(alias="page")] = None):
    """The wall. group: the one to show at large. page: of the standing."""
    app, number = request.app, int(page_of) if page_of and page_of.isdecimal() and len(page_of) < 5 else None
    standing, progress, maps, kept = latest(app)
    root = root_of(request)
    key = (standing.now.replace(microsecond=0), root, group, number)  # of its version; the clock goes on
    with _one:
        if key not in kept:
            if len(kept) >= KEPT:
                kept.clear()
            map_at = functools.partial(map_of, app.state.store, standing, maps)
            wall = Wall(standing, progress, map_at, root, group, number)
            kept[key] = page(request, "wall.html", name=standing.name, standing=standing, wall=wall).body
        return HTMLResponse(kept[key])


@router.get("/static/{name}")
def static(name: str):
    """A file that all pages share; a browser keeps it for a while."""
    if name not in STATIC:
        raise Refused("there is no such file.", 404)
    return FileResponse(
        HERE / "static" / name, headers={"Cache-Control": "public, max-age=600"}, media_type=STATIC[name]
    )


def _picture(label_map, seconds):
    return Response(
        _png(label_map.tobytes()), headers={"Cache-Control": f"private, max-age={seconds}"}, media_type="image/png"
    )


@router.get("/map/truth.png")
def truth_picture():
    """The ground truth."""
    return _picture(scene.load()[1], 86400)


@router.get("/map/{entry}/{split}.png")
def map_picture(request: Request, entry: api.Number, split: Literal[scene.SPLITS]):
    """A map that is on the wall."""
    standing, _, maps, _ = latest(request.app)
    return _picture(map_of(request.app.state.store, standing, maps, entry, split), 600)


# -- a group


Text = Annotated[str, Form()]


def remember(response, request, token):
    """Log a browser in."""
    secure = request.url.scheme == "https"
    response.set_cookie(
        api.COOKIE, token, REMEMBERED, path=root_of(request) or "/", secure=secure, httponly=True, samesite="strict"
    )
    return response


def for_nobody(request, here, done=None, wrong=None, status=200):
    """The page that lets in who is not known yet."""
    name, hub = request.app.state.store.settings().name, request.app.state.config.hub
    hub = hub and hub.entrance
    return page(request, "enter.html", status, name=name, here=here, done=done, wrong=wrong, hub=hub)


@router.get("/join")
def join_page(request: Request):
    """A form for a new group."""
    return for_nobody(request, "join")


@router.post("/join")
def join(request: Request, name: Text = "", code: Text = ""):
    """A new group: its token is shown this once, and its browser logged in."""
    try:
        group, token = request.app.state.store.join(name, code)
    except Refused as error:
        return for_nobody(request, "join", wrong=_said(error), status=error.status)
    board = request.app.state.store.settings().name
    values = {"group": group, "token": token, "address": str(request.base_url).rstrip("/")}
    return remember(page(request, "joined.html", 201, name=board, here="join", **values), request, token)


@router.post("/log-in")
def log_in(request: Request, token: Text = ""):
    """Log in a group, or the instructor, by its token."""
    store, token = request.app.state.store, token.strip()
    if store.is_instructor(token):
        return remember(back(request, "instructor"), request, token)
    if store.group_of(token):
        return remember(back(request, "group"), request, token)
    return for_nobody(request, "group", wrong=_said(UNKNOWN), status=403)


@router.post("/log-out")
def log_out(request: Request):
    """Forget who used this browser."""
    response = back(request, "")
    response.delete_cookie(api.COOKIE, path=root_of(request) or "/", httponly=True, samesite="strict")
    if request.app.state.config.hub:
        request.app.state.config.hub.forget(response)
    return response


DONE = {
    "handed-in": "Entry {} is in and on disk. It is scored within a minute or so; the wall shows it then.",
    "chosen": "Entry {} counts now.",
}


def group_page(request, group, wrong=None, done=None, status=200):
    """What a group sees of itself."""
    store = request.app.state.store
    settings, standing = store.settings(), latest(request.app)[0]
    return page(
        request,
        "group.html",
        status,
        name=settings.name,
        here="group",
        group=group,
        history=views.history(store, group),
        settings=settings,
        part=standing.part,
        standing=standing,
        shown=functools.partial(views.shown, time_zone=settings.time_zone),
        key=secrets.token_urlsafe(16),
        wrong=wrong,
        done=done,
    )


@router.get("/group")
def own_page(request: Request, visitor: api.Asks, done: str = "", entry: str = ""):
    """A group's history, what it may still do, and the form for its next entry."""
    if visitor.group is None:
        return for_nobody(request, "group")
    return group_page(
        request, visitor.group, done=DONE[done].format(entry) if done in DONE and entry.isdecimal() else None
    )


@router.post("/group/hand-in")
async def hand_in(request: Request, visitor: api.Asks, key: str = ""):
    """An entry, by upload; a form that is sent twice makes one entry."""
    store = request.app.state.store

    def accept(content, received):
        return store.accept(api.own_group(visitor).id, key, rules.entry(**content), received)[0]

    try:
        api.own_group(visitor)
        content = await api.upload(request)
        number = await run_in_threadpool(accept, content, rules.now())  # the whole body is here
    except Refused as error:
        return await run_in_threadpool(_refused, request, visitor.group, error)
    return back(request, "group", done="handed-in", entry=number)


@router.post("/group/choose")
def choose(request: Request, visitor: api.Asks, entry: Annotated[int, Form()] = 0):
    """Let an entry count."""
    try:
        request.app.state.store.choose(api.own_group(visitor).id, entry)
    except Refused as error:
        return _refused(request, visitor.group, error)
    return back(request, "group", done="chosen", entry=entry)


def _refused(request, group, error):
    if group is None:
        return for_nobody(request, "group", wrong=_said(error), status=error.status)
    return group_page(request, group, wrong=_said(error), status=error.status)


def _said(error):
    """A sentence as it begins on a page."""
    said = str(error)
    return said[:1].upper() + said[1:]


# -- the instructor


def instructor_page(request, group=None, wrong=None, done=None, status=200, token=None):
    """All that the instructor sets and sees. group: number of the one whose entries are listed; token: its new one."""
    store = request.app.state.store
    settings, standing = store.settings(), latest(request.app)[0]
    lines = store.lines()
    of_group = store.group(group) if group else None
    return page(
        request,
        "instructor.html",
        status,
        name=settings.name,
        here="instructor",
        settings=settings,
        deadline=settings.deadline.astimezone(ZoneInfo(settings.time_zone)).strftime("%Y-%m-%dT%H:%M"),
        part=standing.part,
        final=standing.final,
        groups=views.everybody(store),
        counting=store.counting(standing.part),
        group=of_group,
        entries=store.history(of_group.id) if of_group else [],
        count=len(lines),
        lines=[(line, json.loads(line.detail)) for line in lines[: -LINES - 1 : -1]],
        faults=audit.broken(lines),
        shown=functools.partial(views.shown, time_zone=settings.time_zone),
        token=token,
        wrong=wrong,
        done=done,
    )


@router.get("/instructor")
def the_instructors(request: Request, visitor: api.Asks, group: str = "", done: str = ""):
    """The instructor's page, or the way in."""
    if not visitor.instructor:
        return for_nobody(request, "instructor")
    number = int(group) if group.isdecimal() and len(group) < 9 else None
    return instructor_page(request, number, done=CHANGED.get(done))


CHANGED = {
    "settings": "The settings are changed.",
    "rescore": "All scores and ranks are made anew; the wall shows them as they come.",
    "freeze": "The board is frozen: nothing comes in.",
    "open": "The board is open again.",
    "withdraw": "The entry is withdrawn; its group sees the reason.",
}


def changing(request, visitor, what, change, **query):
    """Do what a form of the instructor's asks for, and show the page again."""
    try:
        api.instructor(visitor)
    except Refused as error:
        return for_nobody(request, "instructor", wrong=_said(error), status=error.status)
    try:
        change(request.app.state.store)
    except Refused as error:
        return instructor_page(request, **query, wrong=_said(error), status=error.status)
    return back(request, "instructor", done=what, **query)


@router.post("/instructor/settings")
def change_settings(
    request: Request,
    visitor: api.Asks,
    name: Text = "",
    code: Text = "",
    deadline: Text = "",
    per_day: Text = "",
    time_zone: Text = "",
):
    """Change the settings."""
    changes = {"name": name, "code": code, "deadline": deadline, "time_zone": time_zone}
    changes["per_day"] = int(per_day) if per_day.isdecimal() and len(per_day) < 9 else per_day
    return changing(request, visitor, "settings", lambda store: store.change(changes))


@router.post("/instructor/rescore")
def rescore(request: Request, visitor: api.Asks):
    """Have all made anew."""
    return changing(request, visitor, "rescore", lambda store: store.rescore())


@router.post("/instructor/freeze")
def freeze(request: Request, visitor: api.Asks, frozen: Text = ""):
    """Let nothing come in, or again."""
    return changing(request, visitor, "freeze" if frozen else "open", lambda store: store.freeze(bool(frozen)))


@router.post("/instructor/token")
def new_token(request: Request, visitor: api.Asks, group: Annotated[int, Form()] = 0):
    """A new token for a group: it is in this answer alone, and in no address."""
    try:
        api.instructor(visitor)
        return instructor_page(request, group, token=request.app.state.store.renew(group))
    except Refused as error:
        if not visitor.instructor:
            return for_nobody(request, "instructor", wrong=_said(error), status=error.status)
        return instructor_page(request, wrong=_said(error), status=error.status)


@router.post("/instructor/withdraw")
def withdraw(
    request: Request,
    visitor: api.Asks,
    entry: Annotated[int, Form()] = 0,
    group: Annotated[int, Form()] = 0,
    reason: Text = "",
):
    """Take an entry out."""
    return changing(request, visitor, "withdraw", lambda store: store.withdraw(entry, reason), group=group)
