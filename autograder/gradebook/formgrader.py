"""Serves nbgrader's formgrader for one class, and nothing else: in this process there are no kernels and no terminals.

Of jupyter_server only the token, the cookie and the checks of host, origin and XSRF are in use, around nbgrader's
handlers. Two of these are left out: the one that serves files which came with a hand-in, and the one that loads the
configuration of any folder. Every page forbids all scripts but nbgrader's own, which carry a number of the response's
(CSP level 3, https://www.w3.org/TR/CSP3/#security-nonces). Notebooks are made inert before they are shown, also those
that were graded by other means. Serves on the loopback address only; writes what formgrader writes.
"""

import asyncio
import base64
import contextlib
import functools
import hashlib
import html
import logging
import os
import secrets
import signal
import socket
from contextvars import ContextVar
from pathlib import Path

from jinja2 import BaseLoader, ChoiceLoader, DictLoader, Environment, FileSystemLoader
from jupyter_server.auth import IdentityProvider
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader import apihandlers, handlers
from nbgrader.server_extensions.formgrader.base import BaseApiHandler, BaseHandler
from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension
from tornado import web
from tornado.httpserver import HTTPServer

from autograder.gradebook.classroom import Classroom
from autograder.gradebook.folder import ClassFolder
from autograder.reports import inert
from course.errors import Problem


def hash_script(script):
    """Return the digest by which a policy allows a script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


HOST = "127.0.0.1"
NONCE = ContextVar("nonce")  # of the response that is being made
LEFT_OUT = {handlers.FormgraderHandler, handlers.SubmissionFilesHandler, web.StaticFileHandler}
ON_CLICK = [  # attributes in nbgrader's pages
    "toggle_name(true);", "toggle_name(false);", "toggleAllNames()",
    "createAssignmentModal();", "createStudentModal();",
]  # fmt: skip
POLICY = "; ".join([
    "default-src 'none'",
    "script-src 'nonce-{nonce}'",
    "script-src-attr 'unsafe-hashes' " + " ".join(f"'sha256-{hash_script(script)}'" for script in ON_CLICK),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
])  # fmt: skip
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
ERRORS = {
    403: "formgrader shows its pages to those alone who open the address that `course formgrader` printed.",
    404: "formgrader has no such page.",
}
# What nbgrader's scripts expect of JupyterLab and of MathJax; formulas are in the pages as MathML.
UTILITIES = """
linkTo = () => (_, element) => $(element).removeAttr("href")[0];
var MathJax = {Hub: {Startup: {signal: {Interest: (listener) => listener("End")}}}};
"""


class Guarded:
    """What every handler of formgrader has in addition: the policy, and errors in one sentence."""

    @functools.cached_property
    def nonce(self):
        """The number that allows a script, for this response alone."""
        return secrets.token_urlsafe(16)

    @property
    def content_security_policy(self):
        return POLICY.format(nonce=self.nonce)

    def set_default_headers(self):
        super().set_default_headers()
        for name, value in HEADERS.items():
            self.set_header(name, value)
        if isinstance(self, BaseApiHandler):  # JSON, which nbgrader's scripts parse themselves
            self.set_header("Content-Type", "text/plain; charset=utf-8")

    def render(self, name, **values):
        NONCE.set(self.nonce)
        return super().render(name, **values)

    @property
    def exporter(self):
        NONCE.set(self.nonce)
        return super().exporter

    def log_exception(self, kind, error, trace):
        if kind is not web.HTTPError:
            self.log.error("%s %s: %s: %s", self.request.method, self.request.path, kind.__name__, error)

    def get_login_url(self):
        if "login_url" not in self.settings:  # a Hub has one
            raise web.HTTPError(403)
        return super().get_login_url()

    def write_error(self, status_code, **reason):
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{status_code}: {ERRORS.get(status_code, 'formgrader could not do this; its terminal says why.')}")


class FirstPage(Guarded, BaseHandler):
    """Takes the token out of the address."""

    @web.authenticated
    def get(self):
        self.redirect(f"{self.base_url}/formgrader/manage_assignments")


class NoPage(Guarded, BaseHandler):
    """Answers whatever is not formgrader's."""

    async def prepare(self):
        raise web.HTTPError(404)


class StaticFile(web.StaticFileHandler):
    """nbgrader's own scripts and styles."""

    def set_extra_headers(self, path):
        for name, value in (HEADERS | {"Content-Security-Policy": "default-src 'none'"}).items():
            self.set_header(name, value)


class Utilities(web.RequestHandler):
    """nbgrader's utils.js, with UTILITIES after it."""

    def set_default_headers(self):
        StaticFile.set_extra_headers(self, "")
        self.set_header("Content-Type", "text/javascript; charset=utf-8")

    def get(self):
        self.write(Path(handlers.static_path, "js", "utils.js").read_text(encoding="utf-8") + UTILITIES)


class PageLoader(BaseLoader):
    """Loads templates, of which nbgrader's own may have scripts."""

    def __init__(self, loader):
        no_maths = DictLoader({"mathjax.html.j2": "{% macro mathjax(url='') %}{% endmacro %}"})
        self.loader = ChoiceLoader([no_maths, loader])

    def get_source(self, environment, template):
        source, path, is_current = self.loader.get_source(environment, template)
        if path and Path(path).is_relative_to(handlers.template_path):
            source = source.replace("<script", '<script nonce="{{ nonce() }}"')
        return source, path, is_current


class SubmissionExporter(HTMLExporter):
    """Makes formgrader's page of one hand-in."""

    def _create_environment(self):
        environment = super()._create_environment()
        environment.loader = PageLoader(environment.loader)
        environment.globals["nonce"] = NONCE.get
        return environment

    def from_notebook_node(self, nb, resources=None, **options):
        """Export `nb`, made inert. resources: names of the student and the lab, which the template does not escape."""
        escaped = {
            key: html.escape(value) if isinstance(value, str) else value for key, value in (resources or {}).items()
        }
        return super().from_notebook_node(inert.make_inert(nb), escaped, **options)


def list_handlers(base, more):
    """The handlers of all that is served below the path `base`, as tornado takes them. more: further ones."""
    own = [
        *more,
        (r"/(?:formgrader/?)?", FirstPage),
        (r"/formgrader/static/js/utils\.js", Utilities),
        (r"/formgrader/static/(.*)", StaticFile, {"path": handlers.static_path}),
        *(
            (pattern, type(handler.__name__, (Guarded, handler), {}), *arguments)
            for pattern, handler, *arguments in [*handlers.default_handlers, *apihandlers.default_handlers]
            if handler not in LEFT_OUT
        ),
    ]
    return [(f"{base.rstrip('/')}{pattern}", *rest) for pattern, *rest in own]


def make_application(root, identity, base="/", more=(), **settings):
    """Make tornado's application for the class in the folder `root`, which must be the current one.

    identity: jupyter_server's IdentityProvider. base: the path below which everything is. more: further handlers.
    settings: tornado's further settings.
    """
    extension = FormgradeExtension(log_level=logging.WARNING, debug=False)
    extension.root_dir = str(root)
    extension.initialize([])
    application = web.Application(
        list_handlers(base, more),
        default_handler_class=NoPage,
        base_url=base,
        cookie_secret=secrets.token_bytes(32),
        xsrf_cookies=True,
        xsrf_cookie_kwargs={"samesite": "Strict", "path": base},
        identity_provider=identity,
        **settings,
    )
    extension.init_tornado_settings(application)
    environment = Environment(loader=PageLoader(FileSystemLoader(handlers.template_path)), autoescape=True)
    environment.globals["nonce"] = NONCE.get
    application.settings.update(
        nbgrader_jinja2_env=environment, nbgrader_exporter=SubmissionExporter(config=extension.config)
    )
    return application


def listen(port):
    """Return a socket that listens at `port` of this machine, 0: any free one. Raises Problem."""
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise Problem(f"formgrader cannot listen at port {port} ({reason}): choose another one with --port.") from error
    listener.setblocking(False)
    return listener


def serve(class_folder, port, on_start):
    """Serve formgrader for the class in `class_folder` until Ctrl-C, SIGTERM or a closed terminal.

    on_start: called with the address, token included, once it answers. Raises Problem where the folder is no class, its
    gradebook cannot be opened, or the port is taken.
    """
    token = secrets.token_hex(24)
    identity = IdentityProvider(token=token, cookie_options={"samesite": "Strict"})

    def announce(port):
        on_start(f"http://{HOST}:{port}/formgrader?token={token}")

    run(class_folder, port, announce, lambda root: make_application(root, identity))


def run(class_folder, port, on_start, make):
    """Serve the application that `make` returns for the class's root; on_start: called with the port."""
    if not ClassFolder(class_folder).configuration.is_file():
        raise Problem(
            f"{class_folder} is not the folder of a class: `course grade HAND-INS --class {class_folder}` makes one."
        )
    root = Classroom(class_folder).root
    with contextlib.closing(listen(port)) as listener:
        os.chdir(root)  # where nbgrader looks for its configuration
        logging.getLogger("tornado.access").setLevel(logging.ERROR)
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        server = HTTPServer(make(root))
        server.add_socket(listener)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler)
        try:
            on_start(listener.getsockname()[1])
            loop.run_forever()
        except KeyboardInterrupt:
            server.stop()
        finally:
            loop.close()
