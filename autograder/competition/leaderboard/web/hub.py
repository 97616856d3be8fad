"""Log-in through a JupyterHub: if the board is a service of a Hub, its users need not join.

Each of the Hub's groups is a group of the board, a user without a group is a group alone, and admins are instructors.
The Hub starts the board and describes itself in the environment. In `jupyterhub_config.py`:

    c.JupyterHub.services = [{
        "name": "board",
        "url": "http://127.0.0.1:10101",  # where the board listens, for the Hub's proxy
        "command": ["/path/to/course/.venv/bin/course", "board", "/path/to/the/boards/folder"],
        "oauth_no_confirm": True,
    }]
    c.JupyterHub.load_roles = [{"name": "user", "scopes": ["self", "access:services!service=board"]}]
    c.Spawner.server_token_scopes = [  # so that `board.join` works in a user's own server without a token
        "users:activity!user", "access:servers!server", "access:services!service=board",
    ]

The Hub's answer to who somebody is holds for a minute. Of the store only the groups are used. To a browser everything
that a Hub serves under one host name, users' own servers included, is one origin: if users do not trust each other,
give each a domain (`c.JupyterHub.subdomain_host`).
"""

import dataclasses
import hashlib
import os
from urllib.parse import urlencode, urlsplit

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from tornado.web import HTTPError

from autograder.competition.leaderboard import lines
from autograder.competition.leaderboard.rules import RequestRefused
from course.errors import Problem

FRESH = 60  # seconds for which the Hub's answer about a token holds
LOG_IN = 600  # seconds that a log-in may take
OTHER = ("nbgrader-", "formgrade-")  # how the names of groups begin that say who takes or grades a course


@dataclasses.dataclass(frozen=True)
class Person:
    """A user of the Hub. group: number of a group of the board, or None; is_instructor: whether this is an admin."""

    group: int | None
    is_instructor: bool


def is_service():
    """Whether a JupyterHub started this process as its service. In a user's own server there is no service name."""
    return "JUPYTERHUB_SERVICE_NAME" in os.environ and "JUPYTERHUB_API_TOKEN" in os.environ


def prefix():
    """The beginning of all paths of the board, as in "/services/board"; empty without a Hub."""
    return os.environ["JUPYTERHUB_SERVICE_PREFIX"].rstrip("/") if is_service() else ""


def address():
    """(host, port) at which the Hub's proxy expects the board. Raises Problem."""
    url = urlsplit(os.environ.get("JUPYTERHUB_SERVICE_URL", ""))
    if not url.hostname or not url.port:
        raise Problem(
            'the Hub does not know the board\'s address: set "url" of its service, as in http://127.0.0.1:10101.'
        )
    return url.hostname, url.port


class Hub:
    """The Hub that this board is a service of. store: the board's. Raises Problem.

    `router` has the pages of the log-in, for the app; the log-in begins at the path `entrance`, which takes `next`.
    """

    def __init__(self, store):
        try:
            from jupyterhub.services.auth import HubOAuth
        except ImportError as error:
            raise Problem(
                "this board is a service of a JupyterHub: install the package jupyterhub in the course's environment."
            ) from error
        self.store, self.groups = store, {}
        self.entrance = f"{prefix()}/hub/log-in"
        self.auth = HubOAuth(base_url=f"{prefix()}/", cache_max_age=FRESH)
        self.router = APIRouter(include_in_schema=False)
        self.router.add_api_route("/hub/log-in", self.log_in)
        self.router.add_api_route("/oauth_callback", self.finish_log_in)

    async def identify(self, request):
        """The Person who sends a request, by a token of the Hub in its header or a cookie; None without a valid token.

        Raises RequestRefused if the user may not use the board, or the Hub does not answer.
        """
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() not in ("bearer", "token"):
            token = request.cookies.get(self.auth.cookie_name)
        return await run_in_threadpool(self._person, token, request) if token else None

    def log_in(self, request: Request, next: str = ""):
        """Send a browser to the Hub's log-in, which sends it back to `oauth_callback`, and from there to `next`."""
        verifier, challenge, method = self.auth.generate_pkce_code_challenge()
        state = self.auth.generate_state(self._own(next), code_verifier=verifier)
        query = {"state": state, "code_challenge": challenge, "code_challenge_method": method}
        response = RedirectResponse(f"{self.auth.login_url}&{urlencode(query)}", 302)
        self._set_cookie(response, request, self._state_cookie(state), state, max_age=LOG_IN)
        return response

    def finish_log_in(self, request: Request, code: str = "", state: str = "", error_description: str = ""):
        """Finish a log-in: exchange the code that the Hub gave to this browser for a token, kept in a cookie."""
        again = f"log in again at {self.auth.base_url}hub/log-in."
        if error_description:
            raise RequestRefused(f"the Hub does not let you in ({error_description:.200}): ask your instructor.", 403)
        if not state or request.cookies.get(self._state_cookie(state)) != state:
            raise RequestRefused(f"this log-in did not begin in this browser, or took too long: {again}", 403)
        onward, verifier = self.auth.get_next_url(state), self.auth.get_code_verifier(state)
        self.auth.clear_oauth_state(state)
        try:
            token = self.auth.token_for_code(code, code_verifier=verifier)
        except HTTPError as error:
            raise RequestRefused(f"the Hub did not confirm this log-in: {again}", 403) from error
        self._person(token, request)
        response = RedirectResponse(onward, 302)
        response.delete_cookie(self._state_cookie(state), path=self.auth.cookie_path)
        self._set_cookie(response, request, self.auth.cookie_name, token)
        return response

    def forget(self, response):
        """Log a browser out of the board. It stays logged in at the Hub."""
        response.delete_cookie(self.auth.cookie_name, path=self.auth.cookie_path)

    def _person(self, token, request):
        session = request.cookies.get("jupyterhub-session-id", "")
        try:
            model = self.auth.user_for_token(token, session_id=session)
        except HTTPError as error:
            raise RequestRefused("the Hub does not answer: try again in a minute.", 503) from error
        if model is None or model["kind"] != "user":
            return None
        if not self.auth.check_scopes(self.auth.access_scopes, model):
            raise RequestRefused(f"the Hub does not let this token use the board: {self.explain_token()}", 403)
        groups = sorted(group for group in model["groups"] if not group.startswith(OTHER))
        if len(groups) > 1:
            several = ", ".join(groups)
            raise RequestRefused(
                f"you are in the Hub's groups {several:.200}, but can hand in for one only: ask your instructor.", 403
            )
        if model["admin"] and not groups:
            return Person(None, True)
        kind, name = ("group", groups[0]) if groups else ("user", model["name"])
        identity = f"{kind} {name}"
        if identity not in self.groups:
            self.groups[identity] = self.store.groups.join_from_hub(identity, name[: lines.MAX_NAME]).id
        return Person(self.groups[identity], model["admin"])

    def explain_token(self):
        """What to click for a token of the Hub with which the lab's client may use the board."""
        page = f"{self.auth.hub_host}{self.auth.hub_prefix}token"
        return (
            f"open the Hub's page {page}, write {' '.join(sorted(self.auth.access_scopes))} into the field "
            'Permissions, click "Request new API token", and join with board.join(address, token="...") in the lab. '
            "If the Hub refuses, ask your instructor."
        )

    def _own(self, url):
        """The path `url` if it is one of the board's pages, otherwise the wall."""
        is_own = url.startswith(self.auth.base_url) and not url.startswith("//") and "\\" not in url
        return url if is_own else self.auth.base_url

    def _state_cookie(self, state):
        """The cookie's name. There is one per log-in, since a restored browser begins one in each of its tabs."""
        return f"{self.auth.state_cookie_name}-{hashlib.sha256(state.encode()).hexdigest()[:16]}"

    def _set_cookie(self, response, request, name, value, max_age=None):
        """Set a cookie. SameSite is Lax: a log-in may pass through another site, and the request after it needs it."""
        response.set_cookie(
            name, value, max_age=max_age, path=self.auth.cookie_path, httponly=True, samesite="lax",
            secure=request.url.scheme == "https",
        )  # fmt: skip
