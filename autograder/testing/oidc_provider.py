"""An OpenID Connect provider for tests: the authorization code flow of OpenID Connect Core 1.0 with PKCE (RFC 7636).

Whoever `user` names is logged in there, so nobody has to type a password.
"""

import base64
import hashlib
import secrets
import time
from urllib.parse import urlencode

from autograder.testing.signing_server import SigningServer, require

CLIENT, SECRET = "course", "a secret of the test"


class Provider(SigningServer):
    """A provider with users, subject -> claims, of whom `user` is logged in.

    alter: what a test does to the claims of an identity token before it is signed; signs_with: another key for it.
    """

    def __init__(self):
        super().__init__()
        self.users, self.user = {}, None
        self.tool = ""
        self.alter = lambda claims: claims
        self.signs_with = None
        self.codes = {}
        self.routes |= {("GET", "/authorize"): self.authorize, ("POST", "/token"): self.give_token}

    def authorize(self, request):
        """Core 3.1.2.1: send the browser back with a code."""
        query = request.query
        require(query.get("response_type") == "code" and query.get("client_id") == CLIENT, "invalid_request")
        require("openid" in query.get("scope", "").split(), "invalid_scope")
        require(query.get("redirect_uri") == f"{self.tool}/hub/oauth_callback", "redirect_uri is not registered")
        require(query.get("code_challenge_method") == "S256" and query.get("code_challenge"), "PKCE is needed")
        code = secrets.token_urlsafe()
        self.codes[code] = query
        return 302, {"Location": f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"}, ""

    def give_token(self, request):
        """Core 3.1.3: tokens for a code, once."""
        form = request.form
        require(form.get("grant_type") == "authorization_code", "unsupported_grant_type")
        require((form.get("client_id"), form.get("client_secret")) == (CLIENT, SECRET), "invalid_client", 401)
        query = self.codes.pop(form.get("code"), None)
        require(query and query["redirect_uri"] == form.get("redirect_uri"), "invalid_grant")
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        require(challenge == query["code_challenge"], "invalid_grant")
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "sub": self.user, "iat": now, "exp": now + 300}
        identity = self.sign(self.alter(claims | self.users[self.user]), self.signs_with)
        answer = {"access_token": secrets.token_urlsafe(), "token_type": "Bearer", "expires_in": 300}
        return 200, {"Cache-Control": "no-store"}, answer | {"id_token": identity}
