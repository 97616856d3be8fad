"""Log-in by a JupyterHub: where the board is one of its services, who is known there need not join.

A Hub's group is a group of the board; a user of no group is one alone; admins are instructors. A Hub that starts the
board says where it is in the environment. In `jupyterhub_config.py`:

    c.JupyterHub.services = [{
        "name": "board",
        "url": "http://127.0.0.1:10101",  # where the board listens, for the Hub's proxy
        "command": ["/path/to/course/.venv/bin/course", "board", "/path/to/the/boards/folder"],
        "oauth_no_confirm": True,
    }]
    c.JupyterHub.load_roles = [{"name": "user", "scopes": ["self", "access:services!service=board"]}]

Asks the Hub who somebody is and keeps the answer for a minute; of the store it needs the groups. What a Hub serves
under one name, users' own servers too, is one origin to a browser: where users do not trust each other, give each a
domain of their own (`c.JupyterHub.subdomain_host`).
"""

import dataclasses
import hashlib
import os
from urllib.parse import urlencode, urlsplit

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from tornado.web import HTTPError

from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.rules import Refused
from course.errors import Problem

FRESH = 60  # seconds for which the Hub's answer on a token holds
LOG_IN = 600  # seconds that a log-in may take
OTHER = ("nbgrader-", "formgrade-")  # how groups begin with which nbgrader says who takes and who grades a course


@dataclasses.dataclass(frozen=True)
class Person:
    """Whom the Hub knows. group: the id of a group of the board, or None; instructor: whether this is one."""

    group: int | None
    instructor: bool


def is_service():
    """Whether a JupyterHub started this process as its service; to what runs in a user's own server it says no name."""
    return "JUPYTERHUB_SERVICE_NAME" in os.environ and "JUPYTERHUB_API_TOKEN" in os.environ


def prefix():
    """What the path of each of the board's URLs begins with: as "/services/board", or nothing without a Hub."""
    return os.environ["JUPYTERHUB_SERVICE_PREFIX"].rstrip("/") if is_service() else ""


def address():
    """(host, port) at which the Hub's proxy looks for the board. Raises Problem."""
    url = urlsplit(os.environ.get("JUPYTERHUB_SERVICE_URL", ""))
    if not url.hostname or not url.port:
        raise Problem('the Hub knows no address of the board: give its service a "url", as in http://127.0.0.1:10101.')
    return url.hostname, url.port


class Hub:
    """The Hub of which this board is a service. store: whose groups its users are. Raises Problem.

    `router` has the pages of the log-in, for the app; `entrance` is where it begins, and takes `next`.
    """

    def __init__(self, store):
        try:
            from jupyterhub.services.auth import HubOAuth
        except ImportError as error:
            raise Problem("a JupyterHub starts this board: install its package in the course's environment.") from error
        self.store, self.groups = store, {}
        self.entrance = f"{prefix()}/hub/log-in"
        self.auth = HubOAuth(base_url=f"{prefix()}/", cache_max_age=FRESH)
        self.router = APIRouter(include_in_schema=False)
        self.router.add_api_route("/hub/log-in", self.log_in)
        self.router.add_api_route("/oauth_callback", self.called_back)

    async def identify(self, request):
        """The Person who sends a request, by a token of the Hub in its header or a cookie; None where nobody is known.

        Raises Refused: who is known may not come in, or the Hub does not answer.
        """
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() not in ("bearer", "token"):
            token = request.cookies.get(self.auth.cookie_name)
        return await run_in_threadpool(self._person, token, request) if token else None

    def log_in(self, request: Request, next: str = ""):
        """Send a browser to the Hub's log-in, from where it comes back to `oauth_callback`, and on to `next`."""
        verifier, challenge, method = self.auth.generate_pkce_code_challenge()
        state = self.auth.generate_state(self._own(next), code_verifier=verifier)
        asked = {"state": state, "code_challenge": challenge, "code_challenge_method": method}
        response = RedirectResponse(f"{self.auth.login_url}&{urlencode(asked)}", 302)
        self._set_cookie(response, request, self._state_cookie(state), state, max_age=LOG_IN)
        return response

    def called_back(self, request: Request, code: str = "", state: str = "", error_description: str = ""):
        """End a log-in: the Hub's code, which came by the browser that began it, becomes a token in a cookie."""
        again = f"log in once more at {self.auth.base_url}hub/log-in."
        if error_description:
            raise Refused(f"the Hub does not let you in ({error_description:.200}): ask your instructor.", 403)
        if not state or request.cookies.get(self._state_cookie(state)) != state:
            raise Refused(f"this log-in was not begun here, or took too long: {again}", 403)
        onward, verifier = self.auth.get_next_url(state), self.auth.get_code_verifier(state)
        self.auth.clear_oauth_state(state)
        try:
            token = self.auth.token_for_code(code, code_verifier=verifier)
        except HTTPError as error:
            raise Refused(f"the Hub did not confirm this log-in: {again}", 403) from error
        self._person(token, request)
        response = RedirectResponse(onward, 302)
        response.delete_cookie(self._state_cookie(state), path=self.auth.cookie_path)
        self._set_cookie(response, request, self.auth.cookie_name, token)
        return response

    def forget(self, response):
        """Log a browser out of the board; at the Hub it stays logged in."""
        response.delete_cookie(self.auth.cookie_name, path=self.auth.cookie_path)

    def _person(self, token, request):
        session = request.cookies.get("jupyterhub-session-id", "")
        try:
            model = self.auth.user_for_token(token, session_id=session)
        except HTTPError as error:
            raise Refused("the Hub does not answer: try again in a minute.", 503) from error
        if model is None or model["kind"] != "user":
            return None
        if not self.auth.check_scopes(self.auth.access_scopes, model):
            raise Refused("the Hub does not let you see this board: ask your instructor.", 403)
        groups = sorted(group for group in model["groups"] if not group.startswith(OTHER))
        if len(groups) > 1:
            several = ", ".join(groups)
            raise Refused(f"you are in the Hub's groups {several:.200}, and hand in for one: ask your instructor.", 403)
        if model["admin"] and not groups:
            return Person(None, True)
        kind, name = ("group", groups[0]) if groups else ("user", model["name"])
        identity = f"{kind} {name}"
        if identity not in self.groups:
            self.groups[identity] = self.store.known(identity, name[: rules.NAME]).id
        return Person(self.groups[identity], model["admin"])

    def _own(self, url):
        """The path `url` where it is one of the board's pages, else the board's first page."""
        inside = url.startswith(self.auth.base_url) and not url.startswith("//") and "\\" not in url
        return url if inside else self.auth.base_url

    def _state_cookie(self, state):
        """Its name: one for each log-in, since a browser that opens again begins one in each of its tabs."""
        return f"{self.auth.state_cookie_name}-{hashlib.sha256(state.encode()).hexdigest()[:16]}"

    def _set_cookie(self, response, request, name, value, max_age=None):
        """SameSite is Lax here: a log-in may lead over another site, and the first request after it is to be known."""
        response.set_cookie(
            name, value, max_age=max_age, path=self.auth.cookie_path, httponly=True, samesite="lax",
            secure=request.url.scheme == "https",
        )  # fmt: skip
