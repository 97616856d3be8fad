"""A learning platform for tests, by 1EdTech's specifications: LTI Core 1.3, Security Framework 1.0, and AGS 2.0.

It launches a tool for its users, gives it access tokens, and keeps line items and scores. It is as strict as the
specifications allow, so that a tool that pleases it pleases others.
"""

import html.parser
import json
import secrets
import time
from datetime import datetime
from urllib.parse import urlencode

import httpx
import jwt

from autograder.testing.signing_server import SigningServer, make_form, require

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/{}".format
ENDPOINT = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/{}".format
MEMBER = "http://purl.imsglobal.org/vocab/lis/v2/membership#{}".format
ITEM_TYPE = "application/vnd.ims.lis.v2.lineitem+json"
ITEMS_TYPE = "application/vnd.ims.lis.v2.lineitemcontainer+json"
SCORE_TYPE = "application/vnd.ims.lis.v1.score+json"
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ACTIVITY = {"Initialized", "Started", "InProgress", "Submitted", "Completed"}
GRADING = {"NotReady", "Failed", "Pending", "PendingManual", "FullyGraded"}
CONTEXT, DEPLOYMENT, CLIENT = "course-42", "deployment-1", "tool-17"
ITEMS = f"/{CONTEXT}/lineitems"
PAGE = 2  # line items per page of an answer


class Platform(SigningServer):
    """A platform with one course, whose tool is at the address `tool`, which may be set after the start.

    users: subject -> claims. alter: what a test does to the claims of a launch before they are signed; signs_with:
    another key for it. scores: {(item's id, subject): the last score}; every request for a score is in `attempts`.
    grants: the scopes that the tool may have.
    """

    def __init__(self):
        super().__init__()
        self.tool = ""
        self.users = {}
        self.alter = lambda claims: claims
        self.signs_with = None
        self.items, self.made = {}, 0
        self.scores, self.attempts = {}, []
        self.tokens, self.assertions = {}, set()
        self.grants = {SCOPE("lineitem"), SCOPE("score")}
        self.routes |= {
            ("GET", "/launch"): self.begin_launch,
            ("GET", "/authorize"): self.authorize,
            ("POST", "/token"): self.give_token,
            ("GET", ITEMS): self.list_items,
            ("POST", ITEMS): self.add_item,
        }

    def enrol(self, subject, role="Learner", **claims):
        """Add a user to the course."""
        self.users[subject] = {CLAIM("roles"): [MEMBER(role)]} | claims

    def make_item(self, label, most=100.0, **values):
        """Add a line item; returns its address, which has a query as Moodle's have."""
        self.made += 1
        number = str(self.made)
        address = f"{self.url}{ITEMS}/{number}/lineitem?type_id=1"
        self.items[number] = {"id": address, "label": label, "scoreMaximum": most} | values
        return address

    def begin_launch(self, request):
        """Security Framework 5.1.1.1: send the browser of a user to the tool's log-in."""
        hint = {"custom": request.query.get("custom", "{}"), "item": request.query.get("item", "")}
        query = {
            "iss": self.url,
            "login_hint": request.query["user"],
            "target_link_uri": request.query.get("target", f"{self.tool}/hub/home"),
            "lti_message_hint": json.dumps(hint),
            "client_id": CLIENT,
            "lti_deployment_id": DEPLOYMENT,
        }
        left_out = request.query.get("without", "")
        query.pop(left_out, None)
        return 302, {"Location": f"{self.tool}/hub/lti13/oauth_login?{urlencode(query)}"}, ""

    def authorize(self, request):
        """Security Framework 5.1.1.2 and 5.1.1.3: check what the tool asks, and post the launch to it."""
        query = request.query
        fixed = {"scope": "openid", "response_type": "id_token", "response_mode": "form_post", "prompt": "none"}
        for name, value in (fixed | {"client_id": CLIENT}).items():
            require(query.get(name) == value, f"{name} must be {value}")
        require(query.get("redirect_uri") == f"{self.tool}/hub/lti13/oauth_callback", "redirect_uri is not registered")
        require(query.get("login_hint") in self.users, "nobody of this name is logged in")
        require(query.get("nonce") and query.get("state"), "nonce and state are missing")
        hint = json.loads(query["lti_message_hint"])
        claims = self.alter(self.make_claims(query["login_hint"], query["nonce"], hint))
        return (
            200,
            {},
            make_form(query["redirect_uri"], {"id_token": self.sign(claims, self.signs_with), "state": query["state"]}),
        )

    def make_claims(self, subject, nonce, hint):
        """LTI Core 5.3: the claims of a resource link's launch. hint: custom (as JSON) and item (a line item's URL)."""
        now = int(time.time())
        endpoint = {"scope": sorted(self.grants), "lineitems": f"{self.url}{ITEMS}"}
        if hint["item"]:
            endpoint["lineitem"] = hint["item"]
        return {
            "iss": self.url,
            "aud": CLIENT,
            "sub": subject,
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            CLAIM("version"): "1.3.0",
            CLAIM("message_type"): "LtiResourceLinkRequest",
            CLAIM("deployment_id"): DEPLOYMENT,
            CLAIM("target_link_uri"): f"{self.tool}/hub/home",
            CLAIM("resource_link"): {"id": "link-1", "title": "The course"},
            CLAIM("context"): {"id": CONTEXT, "label": "ML"},
            CLAIM("custom"): json.loads(hint["custom"]),
            ENDPOINT: endpoint,
        } | self.users[subject]

    def give_token(self, request):
        """Security Framework 4.1: an access token for the signed assertion of the tool (RFC 7523)."""
        form = request.form
        require(form.get("grant_type") == "client_credentials", "grant_type must be client_credentials")
        require(form.get("client_assertion_type") == ASSERTION_TYPE, "the client's assertion must be a JWT")
        try:
            keys = jwt.PyJWKClient(f"{self.tool}/hub/lti13/jwks")
            key = keys.get_signing_key_from_jwt(form["client_assertion"]).key
            needed = {"require": ["iss", "sub", "aud", "iat", "exp", "jti"]}
            claims = jwt.decode(form["client_assertion"], key, ["RS256"], audience=f"{self.url}/token", options=needed)
        except (jwt.PyJWTError, KeyError) as error:
            require(False, f"invalid_client: {error}", 401)
        require(claims["iss"] == claims["sub"] == CLIENT, "invalid_client: unknown", 401)
        require(claims["jti"] not in self.assertions, "invalid_client: used before", 401)
        self.assertions.add(claims["jti"])
        scopes = set(form.get("scope", "").split()) & self.grants
        require(scopes, "invalid_scope")
        token = secrets.token_urlsafe()
        self.tokens[token] = scopes
        answer = {"access_token": token, "token_type": "Bearer", "expires_in": 3600, "scope": " ".join(scopes)}
        return 200, {}, answer

    def find_route(self, request):
        """Also a line item, whose path has a number, and its scores."""
        parts = request.path.removeprefix(f"{ITEMS}/").split("/")
        if request.method == "POST" and parts[0] in self.items and parts[1:] == ["lineitem", "scores"]:
            return lambda request: self.take_score(parts[0], request)
        if request.method == "GET" and parts[0] in self.items and parts[1:] == ["lineitem"]:
            return lambda request: self.show_item(parts[0], request)
        return super().find_route(request)

    def list_items(self, request):
        """AGS 3.2.4: the line items, in pages that name the next one in a header."""
        self._require_scope(request, "lineitem")
        require(ITEMS_TYPE in request.headers.get("Accept", ""), f"an answer is {ITEMS_TYPE}", 406)
        wanted = request.query.get("resource_id")
        items = [each for each in self.items.values() if wanted in (None, each.get("resourceId"))]
        begin = int(request.query.get("from", 0))
        headers = {"Content-Type": ITEMS_TYPE}
        if begin + PAGE < len(items):
            query = urlencode(request.query | {"from": begin + PAGE})
            headers["Link"] = f'<{self.url}{ITEMS}?{query}>; rel="next"'
        return 200, headers, items[begin : begin + PAGE]

    def show_item(self, number, request):
        """AGS 3.2.2: one line item."""
        self._require_scope(request, "lineitem")
        require(ITEM_TYPE in request.headers.get("Accept", ""), f"an answer is {ITEM_TYPE}", 406)
        return 200, {"Content-Type": ITEM_TYPE}, self.items[number]

    def add_item(self, request):
        """AGS 3.2.5: a new line item."""
        self._require_scope(request, "lineitem")
        require(request.headers.get_content_type() == ITEM_TYPE, f"a line item is {ITEM_TYPE}", 415)
        item = json.loads(request.body)
        require(item.get("label") and item.get("scoreMaximum", 0) > 0, "label and scoreMaximum are needed")
        address = self.make_item(**{"label": item.pop("label"), "most": item.pop("scoreMaximum")}, **item)
        return 201, {"Content-Type": ITEM_TYPE}, next(each for each in self.items.values() if each["id"] == address)

    def take_score(self, number, request):
        """AGS 3.4: a score, which counts if it is newer than the one before."""
        self._require_scope(request, "score")
        require(request.headers.get_content_type() == SCORE_TYPE, f"a score is {SCORE_TYPE}", 415)
        require(request.query.get("type_id") == "1", "the query of the line item's address is missing", 404)
        score = json.loads(request.body)
        self.attempts.append(score)
        require(score.get("userId") in self.users, "this user is not in the course", 404)
        require(score.get("activityProgress") in ACTIVITY, "activityProgress is not one of the specification's")
        require(score.get("gradingProgress") in GRADING, "gradingProgress is not one of the specification's")
        if "scoreGiven" in score:
            require(score["scoreGiven"] >= 0 and score.get("scoreMaximum", 0) > 0, "scoreMaximum must be positive")
        when = datetime.fromisoformat(score["timestamp"])
        require(when.tzinfo is not None and "." in score["timestamp"], "timestamp needs a zone and parts of a second")
        before = self.scores.get((number, score["userId"]))
        require(before is None or datetime.fromisoformat(before["timestamp"]) < when, "there is a newer score", 409)
        self.scores[number, score["userId"]] = score
        return 204, {}, ""

    def _require_scope(self, request, scope):
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        require(token in self.tokens, "invalid token", 401)
        require(SCOPE(scope) in self.tokens[token], "insufficient scope", 403)


class FormReader(html.parser.HTMLParser):
    """Reads the only form of a page: `address` and `values`."""

    def __init__(self, page):
        super().__init__()
        self.address, self.values = None, {}
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        """Note the form and its fields."""
        attributes = dict(attributes)
        if tag == "form":
            self.address = attributes["action"]
        elif tag == "input":
            self.values[attributes["name"]] = attributes["value"]


def open_launch(browser, platform, user, **query):
    """Click on the tool's link in the platform as `user`; returns the FormReader of the launch, not yet posted.

    browser: an httpx.Client that follows redirects. query: item, custom (JSON), target, without.
    """
    answer = browser.get(f"{platform.url}/launch", params={"user": user} | query)
    assert answer.status_code == 200, answer.text
    return FormReader(answer.text)


def launch(platform, user, browser=None, **query):
    """A whole launch; returns the tool's last answer."""
    with browser or httpx.Client(follow_redirects=True, timeout=60) as browser:
        form = open_launch(browser, platform, user, **query)
        return browser.post(form.address, data=form.values)
