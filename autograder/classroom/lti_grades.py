"""Sends grades back to a learning platform: `course classroom FOLDER --send-grades 01-regression`.

Reads the class's gradebook and what launches said (`launches`), and writes down which scores the platform accepted. A
second run sends what has changed since and what could not be sent, and nothing else.

Specifications: 1EdTech, LTI Assignment and Grade Services 2.0, and Security Framework 1.0, section 4.1 (access tokens
by RFC 7523).
"""

import dataclasses
import secrets
import ssl
import time
from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx

from autograder.classroom import tool_key
from autograder.classroom.launches import Launches
from autograder.labs import source
from course.errors import Problem

SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/{}".format
ITEM_TYPE = "application/vnd.ims.lis.v2.lineitem+json"
ITEMS_TYPE = "application/vnd.ims.lis.v2.lineitemcontainer+json"
SCORE_TYPE = "application/vnd.ims.lis.v1.score+json"
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
LIFETIME = 300  # seconds for which a request for a token holds
PATIENCE = 30  # seconds to wait for an answer


class Refusal(Exception):
    """The platform refused one score, or one line item; the message says why. status: of its answer, if it matters."""

    def __init__(self, message, status=None):
        super().__init__(message)
        self.status = status


@dataclasses.dataclass
class Outcome:
    """How many scores were sent and how many the platform had already; a sentence for each that could not be sent."""

    sent: int = 0
    unchanged: int = 0
    failures: list = dataclasses.field(default_factory=list)


def send(folder, settings, lab):
    """Send every student's score of a lab (a name or a number) to the platform; returns an Outcome.

    folder, settings: of the class. Raises Problem if the platform does not answer; the Problem says how many scores
    were sent before.
    """
    if settings.accounts["kind"] != "lti":
        raise Problem('grades go to a learning platform only where kind = "lti" in [accounts] of classroom.toml.')
    lab, outcome, launches = source.find_name(lab), Outcome(), Launches(folder.launches)
    scores = read_scores(settings.class_, lab)
    with Platform(settings.accounts, folder) as platform:
        items = {}  # context -> address of the lab's line item, or the Refusal
        for name, score in scores.items():
            try:
                _send_one(platform, launches, items, lab, name, score, outcome)
            except Refusal as refusal:
                outcome.failures.append(f"{name}: {refusal}")
            except httpx.InvalidURL as error:
                outcome.failures.append(f"{name}: the platform named an address that is none ({error}).")
            except httpx.TransportError as error:
                raise Problem(
                    f"the platform does not answer at {urlsplit(str(error.request.url)).netloc}: {outcome.sent} of "
                    f"{len(scores)} scores were sent. Run the same command again to send the others."
                ) from None
    return outcome


def read_scores(class_, lab):
    """Student -> score of the lab, as AGS has it but without the user and the time. Raises Problem.

    A score waits for a person (PendingManual) while a written answer has no points yet.
    """
    from autograder.gradebook.classroom import Classroom  # imports nbgrader, which takes seconds

    scores = {}
    for student, (score, penalty, most, by_hand) in sorted(Classroom(class_).read_all_points(lab).items()):
        if most <= 0:
            raise Problem(f"{lab} gives no points in the gradebook of {class_}: grade its hand-ins first.")
        scores[student] = {
            "scoreGiven": max(0.0, score - penalty),
            "scoreMaximum": most,
            "activityProgress": "Completed",
            "gradingProgress": "PendingManual" if by_hand else "FullyGraded",
        }
    if not scores:
        raise Problem(f"no hand-in of {lab} has been graded in {class_}: run `course grade` first.")
    return scores


def _send_one(platform, launches, items, lab, name, score, outcome):
    """Send one score, unless the platform has it. Raises Refusal and httpx.TransportError."""
    person = launches.find_person(name)
    if person is None:
        raise Refusal(
            "nobody of this name has opened the class from the platform yet, so it is not known who this is there. "
            "Ask the student to open the class from there once, and run the same command again."
        )
    subject, context = person
    if context not in items:
        items[context] = _find_item(platform, launches, context, lab, score["scoreMaximum"])
    url = items[context]
    if isinstance(url, Refusal):
        raise url
    if launches.find_sent(name, url) == score:
        outcome.unchanged += 1
        return
    platform.post_score(url, score | {"userId": subject, "timestamp": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"})
    launches.note_sent(name, url, score)
    outcome.sent += 1


def _find_item(platform, launches, context, lab, most):
    """The address of the lab's line item in a course of the platform, made where it is missing; or the Refusal.

    Somebody may have deleted on the platform the line item that was used before.
    """
    url = launches.find_item(context, lab)
    if url and not platform.is_gone(url):
        return url
    items = launches.find_items(context)
    if items is None:
        return Refusal(
            "the platform did not say where grades belong. Permit the tool there to use grades (Assignment and Grade "
            "Services), open the class from there once, and run the same command again."
        )
    try:
        url = platform.find_item(items, lab) or platform.make_item(items, lab, most)
    except Refusal as refusal:
        return refusal
    launches.note_item(context, lab, url)
    return url


class Platform:
    """The platform's services, as its tool sees them; a context manager. accounts: the table of classroom.toml."""

    def __init__(self, accounts, folder):
        self.accounts, self.key = accounts, tool_key.load(folder.tool_key)
        self.client = httpx.Client(timeout=PATIENCE, verify=ssl.create_default_context())
        self.tokens = {}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.client.close()

    def post_score(self, url, score):
        """Send a score to a line item. The path gets one more part, and the address keeps its query."""
        address = httpx.URL(url)
        address = address.copy_with(path=f"{address.path.rstrip('/')}/scores")
        self._request("POST", address, "score", json=score, headers={"Content-Type": SCORE_TYPE})

    def is_gone(self, url):
        """Whether the platform no longer has a line item; False where the tool may not ask."""
        try:
            self._request("GET", url, "lineitem", headers={"Accept": ITEM_TYPE})
        except Refusal as refusal:
            return refusal.status in (404, 410)
        return False

    def find_item(self, items, lab):
        """The address of the line item that was made for a lab earlier, or None."""
        address, seen = httpx.URL(items).copy_merge_params({"resource_id": lab}), set()
        while address not in seen:  # a page may name itself as the next one
            seen.add(address)
            answer = self._request("GET", address, "lineitem", headers={"Accept": ITEMS_TYPE})
            for item in read_json(answer, list):
                # A platform may ignore the query.
                if isinstance(item, dict) and item.get("resourceId") == lab and isinstance(item.get("id"), str):
                    return item["id"]
            following = answer.links.get("next", {}).get("url")
            address = address.join(following) if following else address
        return None

    def make_item(self, items, lab, most):
        """Make a line item for a lab; returns its address."""
        item = {"label": lab, "scoreMaximum": most, "resourceId": lab}
        headers = {"Content-Type": ITEM_TYPE, "Accept": ITEM_TYPE}
        return read_text(self._request("POST", items, "lineitem", json=item, headers=headers), "id")

    def _request(self, method, url, scope, headers, **content):
        """An answer to a request with an access token. Raises Refusal and httpx.TransportError."""
        headers = headers | {"Authorization": f"Bearer {self._find_token(scope)}"}
        answer = self.client.request(method, url, headers=headers, **content)
        if not answer.is_success:
            reason = f"the platform refused {describe(method, scope)} ({read_reason(answer)})."
            raise Refusal(reason, answer.status_code)
        return answer

    def _find_token(self, scope):
        """An access token for a scope of AGS, asked for once. Raises Refusal and httpx.TransportError."""
        if scope not in self.tokens:
            try:
                self.tokens[scope] = self._ask_for_token(scope)
            except Refusal as refusal:
                self.tokens[scope] = refusal
        if isinstance(self.tokens[scope], Refusal):
            raise self.tokens[scope]
        return self.tokens[scope]

    def _ask_for_token(self, scope):
        now, client, url = int(time.time()), self.accounts["client_id"], self.accounts["token_url"]
        claims = {"iss": client, "sub": client, "aud": url, "iat": now, "exp": now + LIFETIME}
        form = {
            "grant_type": "client_credentials",
            "client_assertion_type": ASSERTION_TYPE,
            "client_assertion": tool_key.sign(self.key, claims | {"jti": secrets.token_urlsafe()}),
            "scope": SCOPE(scope),
        }
        answer = self.client.post(url, data=form)
        if not answer.is_success:
            raise Refusal(
                f"the platform gives this class no access to its grades ({read_reason(answer)}). Check there that the "
                "tool may use them, and that its public keyset is the address /hub/lti13/jwks of the class."
            )
        return read_text(answer, "access_token")


def describe(method, scope):
    """What a request is for, in words."""
    return "the score" if scope == "score" else "a new column of grades" if method == "POST" else "its list of columns"


def read_json(answer, kind):
    """The content of an answer, of the type `kind`. Raises Refusal where it is none, as when a proxy answers."""
    try:
        content = answer.json()
    except ValueError:
        content = None
    if not isinstance(content, kind):
        raise Refusal(f"what answers at {answer.url.host} is not the platform's service for grades.")
    return content


def read_text(answer, name):
    """The text of this name in the object that an answer holds. Raises Refusal where there is none."""
    text = read_json(answer, dict).get(name)
    if not isinstance(text, str) or not text:
        raise Refusal(f"the platform's answer lacks {name}.")
    return text


def read_reason(answer):
    """The status of an answer, and its reason where it gives one."""
    try:
        content = answer.json()
        reason = content.get("error_description") or content.get("error") or content.get("message") or ""
    except (ValueError, AttributeError):
        reason = ""
    return f"status {answer.status_code}{reason and f': {reason:.200}'}"
