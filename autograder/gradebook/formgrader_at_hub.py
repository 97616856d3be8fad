"""Formgrader as a service of a JupyterHub: whom the Hub lets use the service, its admins by default, need no token.

The Hub starts `course formgrader CLASS` and describes itself in the environment, as it does for the leaderboard. The
pages and their policy are those of `formgrader.py`; this adds the log-in through the Hub. Serves on the loopback
address, where the Hub's proxy expects it.
"""

import os
from urllib.parse import urlsplit

from jupyter_server.auth.decorator import allow_unauthenticated
from jupyterhub.services.auth import HubOAuthCallbackHandler
from jupyterhub.singleuser.extension import JupyterHubIdentityProvider

from autograder.gradebook import formgrader


class Callback(HubOAuthCallbackHandler):
    """Finishes a log-in."""

    def initialize(self, hub_auth):
        self.hub_auth = hub_auth

    @allow_unauthenticated
    async def get(self):
        return await super().get()


def serve(class_folder):
    """Serve formgrader for the class in `class_folder` until the Hub ends it. Raises Problem."""
    identity = JupyterHubIdentityProvider()
    base = os.environ["JUPYTERHUB_SERVICE_PREFIX"]
    port = urlsplit(os.environ["JUPYTERHUB_SERVICE_URL"]).port

    def make(root):
        return formgrader.make_application(
            root, identity, base, [(r"/oauth_callback", Callback, {"hub_auth": identity.hub_auth})],
            login_url=identity.hub_auth.login_url,
            allow_remote_access=True,  # by the names under which the proxy is reached
        )  # fmt: skip

    formgrader.run(class_folder, port, lambda port: None, make)
