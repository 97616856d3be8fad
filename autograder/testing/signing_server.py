"""A small HTTP server that signs tokens and publishes its keys: what an OpenID provider and an LTI platform share.

It runs in a thread of the test, on a free port of the loopback interface, and remembers what it was asked.
"""

import html
import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa


class Refused(Exception):
    """An answer with an error's status: what a request lacks."""

    def __init__(self, status, reason):
        super().__init__(reason)
        self.status = status


class SigningServer:
    """A context manager. `routes`: (method, path) -> method of this object, which takes a request.

    A request has method, path, query and form (dicts of strings), headers, and body (bytes). An answer is (status,
    headers, content); content that is no text becomes JSON.
    """

    def __init__(self):
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.kid = secrets.token_hex(4)
        self.requests = []
        self.port = 0
        self.routes = {("GET", "/keys"): self.answer_keys}

    @property
    def url(self):
        """The address, which is also the issuer."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()

    def start(self):
        """Begin to listen; after `stop`, on the same port."""
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), type("Handler", (Handler,), {"owner": self}))
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def stop(self):
        """Be down: nobody listens any more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def sign(self, claims, key=None):
        """A token of these claims, signed with RS256 by the server's key or another one under the same name."""
        return jwt.encode(claims, key or self.key, algorithm="RS256", headers={"kid": self.kid})

    def answer_keys(self, request):
        """The JSON Web Key Set."""
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        key = {name: key[name] for name in ("kty", "n", "e")} | {"kid": self.kid, "alg": "RS256", "use": "sig"}
        return 200, {}, {"keys": [key]}

    def find_route(self, request):
        """The method that answers a request. Raises Refused."""
        route = self.routes.get((request.method, request.path))
        if route is None:
            raise Refused(404, f"there is no {request.method} {request.path}")
        return route


class Handler(BaseHTTPRequestHandler):
    """Passes requests to the server's owner."""

    owner = None

    def handle_request(self):
        """Answer one request."""
        address = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        is_form = self.headers.get_content_type() == "application/x-www-form-urlencoded"
        request = SimpleNamespace(
            method=self.command,
            path=address.path,
            query={name: values[0] for name, values in parse_qs(address.query).items()},
            form={name: values[0] for name, values in parse_qs(body.decode()).items()} if is_form else {},
            headers=self.headers,
            body=body,
        )
        self.owner.requests.append(request)
        try:
            status, headers, content = self.owner.find_route(request)(request)
        except Refused as refused:
            status, headers, content = refused.status, {}, {"error": str(refused)}
        form = "application/json"
        if isinstance(content, str):
            form = "text/html; charset=utf-8"
        else:
            content = json.dumps(content)
        self.send_response(status)
        for name, value in ({"Content-Type": form} | headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content.encode())))
        self.end_headers()
        self.wfile.write(content.encode())

    do_GET = do_POST = handle_request

    def log_message(self, *arguments):
        """Print nothing."""


def require(condition, reason, status=400):
    """Raise Refused unless a request is as it should be."""
    if not condition:
        raise Refused(status, reason)


def make_form(address, values):
    """A page that posts these values at once, as a platform's page does (OAuth 2.0 Form Post Response Mode)."""
    fields = "".join(
        f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
        for name, value in values.items()
    )
    return (
        f'<!doctype html><title>Log-in</title><body onload="document.forms[0].submit()">'
        f'<form method="post" action="{html.escape(address)}">{fields}</form>'
    )
