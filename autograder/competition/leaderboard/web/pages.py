"""The pages that everybody may see: the wall, its pictures, and the static files."""

import functools
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, HTMLResponse, Response

from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.rules import RequestRefused
from autograder.competition.leaderboard.web import pictures
from autograder.competition.leaderboard.web.api import Number
from autograder.competition.leaderboard.web.templating import HERE, get_root, make_join_address, render
from autograder.competition.leaderboard.web.wall import WallPage
from course.competition import scene

STATIC = {
    "style.css": "text/css",
    "board.js": "text/javascript",
    "htmx.min.js": "text/javascript",
    "htmx.LICENSE.txt": "text/plain",
    "icon.svg": "image/svg+xml",
}

router = APIRouter(include_in_schema=False)


@router.get("/")
def get_wall(request: Request, group: str | None = None, page_text: Annotated[str | None, Query(alias="page")] = None):
    """The wall. group: the one to show at large. page: of the standing."""
    page = int(page_text) if page_text and page_text.isdecimal() and len(page_text) < 5 else None
    latest, root, now = request.app.state.latest, get_root(request), rules.now()
    address = str(request.base_url)

    def make():
        may_join = snapshot.standing.settings.joining != "closed" and snapshot.standing.part == "public"
        wall = WallPage(snapshot, now, root, group, page, make_join_address(address) if may_join else None)
        return render(request, "wall.html", name=wall.settings.name, standing=wall.standing, wall=wall).body

    with latest.lock:
        snapshot = latest.read()
        # The clock goes on within a version: a page is kept for one second.
        return HTMLResponse(snapshot.get_page((now.replace(microsecond=0), address, group, page), make))


@router.get("/static/{name}")
def get_static(name: str):
    """A file that all pages share; a browser keeps it for a while."""
    if name not in STATIC:
        raise RequestRefused("there is no such file.", 404)
    return FileResponse(
        HERE / "static" / name, headers={"Cache-Control": "public, max-age=600"}, media_type=STATIC[name]
    )


@router.get("/map/truth.png")
def get_truth():
    """The ground truth."""
    return _answer_with_map(scene.load()[1], 86400)


@router.get("/map/{entry}/{split}.png")
def get_map(request: Request, entry: Number, split: Literal[scene.SPLITS]):
    """A map that is on the wall."""
    return _answer_with_map(request.app.state.latest.read().read_map(entry, split), 600)


def _answer_with_map(label_map, seconds):
    """The answer with the picture of a map, which a browser keeps for so many seconds."""
    headers = {"Cache-Control": f"private, max-age={seconds}"}
    return Response(_encode(label_map.tobytes()), headers=headers, media_type="image/png")


@functools.lru_cache(maxsize=1024)
def _encode(content):
    return pictures.encode_png(np.frombuffer(content, np.uint8).reshape(scene.SHAPE))
