"""Accounts from an OpenID Connect provider, such as a university's Keycloak, Entra ID or GitLab.

The Hub asks the provider by the authorization code flow with PKCE, and checks the identity token's signature, issuer,
audience and time. The secret that the provider gave is in the file client-secret of the class's folder. In
classroom.toml:

    [accounts]
    kind = "oidc"
    issuer = "https://login.example.org/realms/university"
    client_id = "course"
    authorize_url = "https://login.example.org/realms/university/protocol/openid-connect/auth"
    token_url = "https://login.example.org/realms/university/protocol/openid-connect/token"
    jwks_url = "https://login.example.org/realms/university/protocol/openid-connect/certs"
    # user = "sub"               the claim that becomes the user name; choose none that users can change;
    #                            with "email", nobody logs in whose address the provider calls unverified
    # roles = "groups"           the claim with roles, a path such as "realm_access.roles" too
    # instructors = ["staff"]    the roles of instructors, beside the names in `instructors` above
    # students = ["ml-2026"]     the roles of students; without it everybody of the provider may log in

The provider needs the class's redirection address: /hub/oauth_callback at the class's address.

Specification: OpenID Connect Core 1.0, sections 3.1.2 and 3.1.3.7; PKCE: RFC 7636.
"""

import asyncio

import jwt
from oauthenticator.generic import GenericOAuthenticator
from tornado.web import HTTPError
from traitlets import Set, Unicode

from autograder.classroom import claims
from autograder.classroom.accounts import make_groups_hook
from course.errors import Problem

NEEDED = dict.fromkeys(("issuer", "client_id", "authorize_url", "token_url", "jwks_url"), str)
OPTIONAL = {"user": str, "roles": str, "instructors": list, "students": list}
ALGORITHMS = ["RS256", "ES256", "PS256"]
LEEWAY = 30  # seconds by which the clocks of provider and class may differ


class ProviderAuthenticator(GenericOAuthenticator):
    """Logs in whom the provider knows; people with one of the `instructor_roles` are admins of the Hub."""

    issuer = Unicode(config=True, help="the provider's identifier")
    jwks_url = Unicode(config=True, help="where the provider's public keys are")
    roles_claim = Unicode(config=True, help="the claim with roles, as a path with dots")
    instructor_roles = Set(Unicode(), config=True, help="the roles of instructors")
    student_roles = Set(Unicode(), config=True, help="the roles of students; empty: everybody")

    async def get_token_info(self, handler, params):
        """The provider's answer to a code."""
        try:
            return await super().get_token_info(handler, params)
        except OSError as error:  # no connection; an answer that refuses is an HTTPError
            raise HTTPError(503, "The provider does not answer at the moment: log in again.") from error

    async def token_to_user(self, token_info):
        """The claims of the identity token that came with the access token, after its signature was checked."""
        try:
            return await asyncio.to_thread(self._read_identity, token_info.get("id_token", ""))
        except jwt.PyJWKClientConnectionError as error:
            raise HTTPError(503, "The provider does not send its public keys at the moment: log in again.") from error
        except jwt.PyJWTError as error:
            self.log.warning("Identity token refused: %s", error)
            raise HTTPError(403, "The provider's answer is not valid for this class: log in again.") from error

    def user_info_to_username(self, user_info):
        """The user name for the claim that classroom.toml names."""
        value = user_info.get(self.username_claim)
        if not isinstance(value, str) or not value:
            raise HTTPError(
                403,
                f"The provider does not say your {self.username_claim}. An instructor has to choose another claim as "
                "user in classroom.toml, or the provider has to release this one.",
            )
        is_address = self.username_claim == "email"
        if is_address and user_info.get("email_verified") in (False, "false"):  # some providers send a text
            raise HTTPError(403, "The provider has not verified your e-mail address: verify it there and log in again.")
        return claims.make_user_name(value, ignores_case=is_address)

    async def update_auth_model(self, auth_model):
        """Make instructors admins, by role or by name."""
        roles = self._read_roles(auth_model)
        by_name = auth_model["name"] in self.admin_users
        return auth_model | {"admin": by_name or bool(roles & self.instructor_roles)}

    async def get_user_groups(self, auth_state):
        """No group: a hook takes groups from students.csv."""
        return set()

    async def check_allowed(self, username, auth_model):
        """Whether somebody is in this class: an instructor, or a student by role where roles are named."""
        if auth_model is None or auth_model["admin"] or not self.student_roles:
            return True
        if self._read_roles(auth_model) & self.student_roles:
            return True
        raise HTTPError(403, "You are not among the students of this class: ask your instructor.")

    async def refresh_user(self, user, handler=None, **options):
        """Nothing is asked again while somebody is logged in, so a provider that is down disturbs nobody."""
        return True

    def _read_identity(self, token):
        key = jwt.PyJWKClient(self.jwks_url).get_signing_key_from_jwt(token).key
        options = {"require": ["iss", "aud", "exp", "sub"]}
        return jwt.decode(
            token, key, ALGORITHMS, audience=self.client_id, issuer=self.issuer, leeway=LEEWAY, options=options
        )

    def _read_roles(self, auth_model):
        identity = auth_model["auth_state"][self.user_auth_state_key]
        return claims.read_list(claims.read_claim(identity, self.roles_claim.split(".")))


def configure(c, folder, settings):
    """Put accounts by OpenID Connect into the Hub's configuration `c`. Raises Problem."""
    accounts = settings.accounts
    claims.require(accounts, NEEDED, OPTIONAL)
    try:
        secret = folder.client_secret.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise Problem(f"{folder.client_secret} cannot be read: write the provider's client secret into it.") from None
    c.JupyterHub.authenticator_class = ProviderAuthenticator
    mine = c.ProviderAuthenticator
    mine.client_id, mine.client_secret = accounts["client_id"], secret
    mine.authorize_url, mine.token_url = accounts["authorize_url"], accounts["token_url"]
    mine.issuer, mine.jwks_url = accounts["issuer"], accounts["jwks_url"]
    mine.scope = ["openid", "profile", "email"]
    mine.username_claim, mine.roles_claim = accounts.get("user", "sub"), accounts.get("roles", "groups")
    mine.instructor_roles = set(accounts.get("instructors", []))
    mine.student_roles = set(accounts.get("students", []))
    mine.post_auth_hook = make_groups_hook(folder, settings)
