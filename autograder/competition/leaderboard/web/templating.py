"""Answers made of the templates: pages, problems, redirections. Whatever people wrote is escaped."""

import functools
import hashlib
import ipaddress
from datetime import datetime
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from zoneinfo import ZoneInfo

from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.web import pictures
from course.competition import scene

HERE = Path(__file__).parent
STATES = {  # of a verification, in words
    "none": "not verified",
    "waiting": "not verified yet",
    "running": "being verified",
    "verified": "verified",
    "refused": "refused",
    "flagged": "to be reviewed",
}


def format_seconds(value):
    """A number of seconds, as short as it can be read."""
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def format_evidence(evidence):
    """How an entry was trained, in words. "Ranks" would be taken for places on this board."""
    ranks = evidence["ranks"]
    return f"{ranks} process{'es' * (ranks != 1)} in {format_seconds(evidence['seconds'])} s"


def format_local(time, time_zone):
    """A time, or its text in the store, for people in a time zone; with the year if that is not the present one."""
    time = rules.parse_time(time) if isinstance(time, str) else time
    local = time.astimezone(ZoneInfo(time_zone))
    year = "" if local.year == datetime.now(local.tzinfo).year else f" {local.year}"
    return f"{local.day} {local:%b}{year}, {local:%H:%M}"


def make_slug(name):
    """A part of an HTML id that is different for different names."""
    return hashlib.sha256(name.encode()).hexdigest()[:12]


def as_sentence(message):
    """An error's message as a sentence on a page: it begins with a capital letter."""
    text = str(message)
    return text[:1].upper() + text[1:]


@functools.cache
def _templates():
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "slug": make_slug,
        "seconds": format_seconds,
        "state": STATES.get,
        "evidence": format_evidence,
    }
    names = ("draw_interval", "draw_axis", "draw_share", "draw_swatch", "draw_qr_code")
    environment.globals |= {name: getattr(pictures, name) for name in names} | {"competition": scene.SETTINGS}
    return environment


def get_root(request):
    """The path below which the board is served, without its last slash."""
    return request.scope.get("root_path", "").rstrip("/")


def make_join_address(address):
    """Where groups join, if the wall was opened at this address; None if it is one that only this machine knows."""
    host = urlsplit(address).hostname or ""
    try:
        is_this_machine = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_this_machine = host == "localhost"
    return None if is_this_machine else f"{address.rstrip('/')}/join"


def render(request, template, status=200, **values):
    """The answer that `templates/TEMPLATE` makes of `values`."""
    values = {"root": get_root(request), "error": None, "done": None, "here": ""} | values
    return HTMLResponse(_templates().get_template(template).render(values), status)


def wants_page(request):
    """Whether the request comes from a browser that shows the answer to a person."""
    path = request.url.path.removeprefix(get_root(request))
    return "text/html" in request.headers.get("accept", "") and not path.startswith("/api/")


def answer_problem(request, message, status, headers=None):
    """The answer that says what is wrong: a page for a browser that shows it, otherwise JSON. Needs no database."""
    if not wants_page(request):
        return JSONResponse({"detail": message}, status, headers)
    page = render(request, "problem.html", status, name="The leaderboard", here=None, message=as_sentence(message))
    page.headers.update(headers or {})
    return page


def redirect(request, path, **query):
    """The answer to a form that succeeded: the page `path`, by GET, so that a reload sends nothing again."""
    query = f"?{urlencode(query)}" if query else ""
    return RedirectResponse(f"{get_root(request)}/{path}{query}", 303)
