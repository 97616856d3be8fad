"""Accounts from a learning platform by LTI 1.3: students open the class from Moodle, Canvas or another platform.

The checks of a launch are LTI13Authenticator's (signature, issuer, audience, time, state) and those that it leaves out
(deployment, course, a nonce used twice). A launch is kept in the class's folder, so that grades can be sent back. In
classroom.toml, with the values that the platform shows for a tool that it knows:

    [accounts]
    kind = "lti"
    issuer = "https://moodle.example.org"
    client_id = "AbCdEf123456789"
    deployments = ["1"]
    authorize_url = "https://moodle.example.org/mod/lti/auth.php"
    token_url = "https://moodle.example.org/mod/lti/token.php"
    jwks_url = "https://moodle.example.org/mod/lti/certs.php"
    # contexts = ["42"]    the courses whose launches count; by default all of these deployments
    # user = "sub"         the claim that becomes the user name
    # instructors = ["http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"]

The platform needs of the class, at its address: /hub/lti13/oauth_login (initiate login), /hub/lti13/oauth_callback
(redirection) and /hub/lti13/jwks (public keyset). `sub` never changes and is never given to another person, but says
little to a reader; `email`, `preferred_username` or `custom_NAME` are readable, and the first person who comes with a
name keeps it. A launch with the custom parameter lab=01-regression says that its column of grades is that of the
lab; without such launches `lti_grades` makes the columns, if the platform permits it.

Specifications: 1EdTech, LTI Core 1.3 and Security Framework 1.0.
"""

import asyncio
import functools
import time

import jwt
from jupyterhub.handlers import BaseHandler
from ltiauthenticator.lti13.auth import LTI13Authenticator
from ltiauthenticator.lti13.constants import LTI13_CUSTOM_CLAIM
from ltiauthenticator.lti13.error import ValidationError
from ltiauthenticator.lti13.handlers import LTI13CallbackHandler, LTI13LoginInitHandler
from tornado.web import HTTPError
from traitlets import Set, Unicode

from autograder.classroom import claims, tool_key
from autograder.classroom.accounts import make_groups_hook
from autograder.classroom.folder import Folder
from autograder.classroom.launches import Launches
from autograder.labs import source

INSTRUCTOR = "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/{}".format
GRADES = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
NEEDED = dict.fromkeys(("issuer", "client_id", "authorize_url", "token_url", "jwks_url"), str) | {"deployments": list}
OPTIONAL = {"contexts": list, "user": str, "instructors": list}
LEEWAY = 30  # seconds by which the clocks of platform and class may differ
AGAIN = "Open the class again from the platform."
REASONS = {  # what the launch's check found -> (status, sentence)
    jwt.ExpiredSignatureError: (403, f"This launch is too old. {AGAIN}"),
    jwt.InvalidAudienceError: (
        403,
        "This launch is meant for another tool. An instructor has to write the platform's client ID into client_id "
        "in classroom.toml.",
    ),
    jwt.InvalidIssuerError: (
        403,
        "This launch comes from another platform. An instructor has to write the platform's ID into issuer in "
        "classroom.toml.",
    ),
    jwt.PyJWKClientConnectionError: (503, f"The platform does not send its public keys at the moment. {AGAIN}"),
}
NOT_SIGNED = f"This launch does not have the platform's signature, so it does not count. {AGAIN}"


class LoginHandler(LTI13LoginInitHandler):
    """The first step of a launch: the platform asks the class to ask for a launch."""

    def post(self):
        """Send the browser to the platform's authorization address, if this is the platform that the class knows."""
        authenticator = self.authenticator
        issuer, client = self.get_argument("iss", ""), self.get_argument("client_id", None)
        if not issuer:
            raise HTTPError(403, f"This class is opened from its page on the platform {authenticator.issuer}.")
        if issuer != authenticator.issuer:
            raise HTTPError(*REASONS[jwt.InvalidIssuerError])
        if client is not None and client not in authenticator.client_id:
            raise HTTPError(*REASONS[jwt.InvalidAudienceError])
        super().post()

    get = post

    def authorize_redirect(self, client_id, **arguments):
        """Name the class's client ID where the platform did not, which the specification leaves to it."""
        super().authorize_redirect(client_id=client_id or next(iter(self.authenticator.client_id)), **arguments)

    def _set_oauth_cookie(self, key, value):
        """Set the cookies of a launch so that a form on the platform's page sends them back, where TLS allows it."""
        is_secure = self.authenticator.get_uri_scheme(self.request) == "https"
        other_site = {"secure": True, "samesite": "None"} if is_secure else {}
        self._set_cookie(key, value, expires_days=1, httponly=True, encrypted=True, **other_site)


class CallbackHandler(LTI13CallbackHandler):
    """The second step: the platform sends the launch through the browser, signed."""

    async def post(self):
        """Check a launch, in a thread because the platform's keys are fetched, and log its person in."""
        try:
            launch = await asyncio.to_thread(self.decode_and_validate_launch_request)
        except ValidationError as error:
            self.log.warning("Launch refused: %s", error)
            status, sentence = REASONS.get(type(error.__context__), (403, NOT_SIGNED))
            if error.__context__ is None:
                sentence = f"This launch is incomplete ({error}). {AGAIN}"
            raise HTTPError(status, sentence.replace("%", "%%")) from error
        user = await self.login_user(launch)
        if user is None:
            raise HTTPError(403, "You may not use this class: ask your instructor.")
        await self.redirect_to_next_url(user)

    def check_state(self):
        """Refuse a launch that was not asked for by the class in this browser."""
        try:
            super().check_state()
        except HTTPError as error:
            raise HTTPError(403, f"This launch did not begin in this browser, or took too long. {AGAIN}") from error

    def check_nonce(self, id_token):
        """Refuse a launch that answers another request, or that was used before."""
        try:
            super().check_nonce(id_token)
        except HTTPError as error:
            raise HTTPError(403, f"This launch does not belong to this log-in. {AGAIN}") from error
        expires = max(id_token["exp"], time.time()) + 2 * LEEWAY
        if not self.authenticator.launches.use_nonce(id_token["nonce"], expires):
            raise HTTPError(403, f"This launch was used before. {AGAIN}")


class KeysHandler(BaseHandler):
    """The class's public keys, with which the platform checks who sends grades."""

    def get(self):
        """Answer with a JSON Web Key Set."""
        self.write({"keys": [tool_key.describe(tool_key.load(self.authenticator.folder.tool_key))]})


class PlatformAuthenticator(LTI13Authenticator):
    """Logs in whom the platform sends; people with one of the `instructor_roles` are admins of the Hub."""

    login_handler, callback_handler = LoginHandler, CallbackHandler
    deployments = Set(Unicode(), config=True, help="the deployments whose launches count")
    contexts = Set(Unicode(), config=True, help="the platform's courses whose launches count; empty: all")
    instructor_roles = Set(Unicode(), config=True, help="the roles of instructors, as URIs")
    classroom = Unicode(config=True, help="the folder of the class")

    @functools.cached_property
    def folder(self):
        """The paths of the class."""
        return Folder(self.classroom)

    @functools.cached_property
    def launches(self):
        """Where launches are kept."""
        return Launches(self.folder.launches)

    def get_handlers(self, app):
        """The pages of LTI, with the class's public keys."""
        return [*super().get_handlers(app), ("lti13/jwks", KeysHandler)]

    async def authenticate(self, handler, data=None):
        """The user of a launch whose signature was checked.

        Only `CallbackHandler` checks signatures. Through the Hub's API anybody may call this with any data.
        """
        if not isinstance(handler, CallbackHandler):
            return None
        if data[CLAIM("deployment_id")] not in self.deployments:
            raise HTTPError(
                403,
                "This launch comes from another deployment. An instructor has to add the platform's deployment ID to "
                "deployments in classroom.toml.",
            )
        context = str(claims.read_claim(data, (CLAIM("context"), "id")) or "")
        if self.contexts and context not in self.contexts:
            raise HTTPError(
                403,
                "This launch comes from another course of the platform. An instructor can add the course's ID to "
                "contexts in classroom.toml.",
            )
        subject = data.get("sub")
        if not subject:
            raise HTTPError(403, "The platform does not say who you are: log in there and open the class again.")
        name = self.launches.admit(self.get_username(data), subject, context)
        if name is None:
            raise HTTPError(403, "Your user name belongs to another person in this class: ask your instructor.")
        self._note_grades(data, context)
        roles = claims.read_list(data[CLAIM("roles")])
        return {"name": name, "admin": bool(roles & self.instructor_roles)}

    def get_username(self, token):
        """The user name for the claim that classroom.toml names."""
        return claims.make_user_name(str(super().get_username(token)), ignores_case=self.username_key == "email")

    def _note_grades(self, data, context):
        """Keep where the platform takes grades, as far as this launch says so."""
        endpoint, custom = data.get(GRADES) or {}, data.get(LTI13_CUSTOM_CLAIM) or {}
        lab = source.find_name(str(custom.get("lab", "")))
        if endpoint.get("lineitem") and lab in source.lab_names():
            self.launches.note_item(context, lab, endpoint["lineitem"])
        if endpoint.get("lineitems"):
            self.launches.note_context(context, endpoint["lineitems"])


def configure(c, folder, settings):
    """Put accounts by LTI into the Hub's configuration `c`. Raises Problem."""
    accounts = settings.accounts
    claims.require(accounts, NEEDED, OPTIONAL)
    c.JupyterHub.authenticator_class = PlatformAuthenticator
    mine = c.PlatformAuthenticator
    mine.issuer, mine.client_id = accounts["issuer"], {accounts["client_id"]}
    mine.authorize_url, mine.jwks_endpoint = accounts["authorize_url"], accounts["jwks_url"]
    mine.deployments, mine.contexts = set(accounts["deployments"]), set(accounts.get("contexts", []))
    mine.instructor_roles = set(accounts.get("instructors", [INSTRUCTOR]))
    mine.username_key = accounts.get("user", "sub")
    mine.classroom = str(folder.root)
    mine.allow_all = True  # whom the platform sends
    mine.auto_login = True  # there is no form to fill in: who comes without a launch reads where the class is opened
    mine.post_auth_hook = make_groups_hook(folder, settings)
    c.LTI13LaunchValidator.time_leeway = LEEWAY
