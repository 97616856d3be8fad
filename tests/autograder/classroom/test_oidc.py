"""Accounts from an OpenID Connect provider at a real Hub: who gets in, and what is refused with which sentence."""

from types import SimpleNamespace

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from autograder.classroom import oidc
from autograder.classroom.folder import Folder
from autograder.testing.account_hub import read_error, start_hub
from autograder.testing.oidc_provider import CLIENT, SECRET, Provider
from course.errors import Problem
from course.files import write_whole

ACCOUNTS = """instructors = ["grace"]
[accounts]
kind = "oidc"
issuer = "{url}"
client_id = "{client}"
authorize_url = "{url}/authorize"
token_url = "{url}/token"
jwks_url = "{url}/keys"
user = "preferred_username"
roles = "realm_access.roles"
instructors = ["staff"]
students = ["ml-2026"]
"""
STUDENT, TEACHER = {"realm_access": {"roles": ["ml-2026"]}}, {"realm_access": {"roles": ["staff"]}}
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def provider(tmp_path_factory):
    """A provider with users, and a class whose Hub runs."""
    root = tmp_path_factory.mktemp("class")
    with Provider() as provider:
        provider.users = {
            "1": {"preferred_username": "ada"} | STUDENT,
            "2": {"preferred_username": "dora"} | TEACHER,
            "3": {"preferred_username": "grace"},
            "4": {"preferred_username": "eve"},
        }
        write_whole(root / "client-secret", SECRET + "\n")
        with start_hub(root, ACCOUNTS.format(url=provider.url, client=CLIENT)) as provider.tool:
            yield provider


@pytest.fixture(autouse=True)
def honest(provider):
    """After each test the provider is honest again."""
    yield
    provider.alter, provider.signs_with = lambda claims: claims, None


def log_in(provider, user, browser=None):
    """Log in as a user of the provider; returns (the Hub's last answer, the Hub's description of the user)."""
    provider.user = user
    with browser or httpx.Client(follow_redirects=True, timeout=60) as browser:
        answer = browser.get(f"{provider.tool}/hub/oauth_login")
        model = browser.get(f"{provider.tool}/hub/api/user", headers={"Referer": f"{provider.tool}/hub/home"})
        return answer, model.json() if model.status_code == 200 else {}


@pytest.mark.parametrize(("user", "name", "is_admin"), [("1", "ada", False), ("2", "dora", True), ("3", "grace", True)])
def test_students_and_instructors_log_in_by_role_or_by_name(provider, user, name, is_admin):
    _, model = log_in(provider, user)
    assert (model["name"], model["admin"]) == (name, is_admin)


def test_somebody_without_a_role_of_the_class_is_refused(provider):
    answer, model = log_in(provider, "4")
    assert answer.status_code == 403 and "not among the students of this class" in read_error(answer)
    assert not model


REFUSED = {
    "audience": lambda claims: claims | {"aud": "another"},
    "issuer": lambda claims: claims | {"iss": "https://provider.example"},
    "expired": lambda claims: claims | {"exp": claims["iat"] - 600},
}


@pytest.mark.parametrize("case", [*REFUSED, "signature"])
def test_an_identity_that_is_not_the_providers_for_this_class_is_refused(provider, case):
    provider.alter = REFUSED.get(case, provider.alter)
    if case == "signature":
        provider.signs_with = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    answer, model = log_in(provider, "1")
    assert answer.status_code == 403 and "not valid for this class" in read_error(answer)
    assert not model


def test_a_missing_claim_is_one_sentence(provider):
    provider.alter = lambda claims: {name: claims[name] for name in claims if name != "preferred_username"}
    answer, _ = log_in(provider, "1")
    assert answer.status_code == 403 and "does not say your preferred_username" in read_error(answer)


def test_a_provider_that_is_down_is_one_sentence_and_disturbs_nobody_who_is_logged_in(provider):
    with httpx.Client(follow_redirects=True, timeout=60) as browser:
        provider.user = "1"
        browser.get(f"{provider.tool}/hub/oauth_login")
        with httpx.Client(timeout=60) as other:
            location = other.get(f"{provider.tool}/hub/oauth_login").headers["Location"]
            back = other.get(location).headers["Location"]
            provider.stop()
            try:
                answer = other.get(back)
                still = browser.get(f"{provider.tool}/hub/home")
            finally:
                provider.start()
        assert answer.status_code == 503 and "does not answer at the moment" in read_error(answer)
        assert still.status_code == 200 and still.url.path == "/hub/home"


def test_settings_that_are_missing_or_unknown_are_named(tmp_path):
    folder = Folder(tmp_path)
    accounts = {"kind": "oidc", **dict.fromkeys(oidc.NEEDED, "https://login.example.org")}
    for change, words in [
        ({"issuer": ""}, 'needs issuer = "..."'),
        ({"students": "all"}, r"students .* takes a list of texts"),
        ({"scopes": "openid"}, "has scopes, which"),
        ({}, "write the provider's client secret"),
    ]:
        with pytest.raises(Problem, match=words):
            oidc.configure(None, folder, SimpleNamespace(accounts=accounts | change))
