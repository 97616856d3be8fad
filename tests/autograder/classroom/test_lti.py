"""Launches from a learning platform at a real Hub: who gets in, and what is refused with which sentence."""

import json
import time

import httpx
import jwt
import pytest
import trustme
from cryptography.hazmat.primitives.asymmetric import rsa

from autograder.classroom import lti_grades
from autograder.classroom.folder import Folder
from autograder.classroom.launches import Launches
from autograder.testing.account_hub import read_error, start_hub
from autograder.testing.browser import start_chromium
from autograder.testing.lti_platform import (
    CLAIM,
    CLIENT,
    CONTEXT,
    DEPLOYMENT,
    ITEMS,
    MEMBER,
    Platform,
    launch,
    open_launch,
)

ACCOUNTS = """[accounts]
kind = "lti"
issuer = "{url}"
client_id = "{client}"
deployments = ["{deployment}"]
contexts = ["{context}"]
authorize_url = "{url}/authorize"
token_url = "{url}/token"
jwks_url = "{url}/keys"
user = "preferred_username"
"""
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def platform():
    """A learning platform with three users."""
    with Platform() as platform:
        platform.enrol("7", preferred_username="ada")
        platform.enrol("8", preferred_username="Bob O'Neil")
        platform.enrol("9", role="Instructor", preferred_username="grace")
        yield platform


@pytest.fixture(scope="module")
def folder(platform, tmp_path_factory):
    """The Folder of a class whose Hub runs."""
    root = tmp_path_factory.mktemp("class")
    accounts = ACCOUNTS.format(url=platform.url, client=CLIENT, deployment=DEPLOYMENT, context=CONTEXT)
    with start_hub(root, accounts) as platform.tool:
        yield Folder(root)


@pytest.fixture(autouse=True)
def honest(platform, folder):
    """After each test the platform is honest again."""
    yield
    platform.alter, platform.signs_with = lambda claims: claims, None


@pytest.fixture
def browser():
    """A browser without cookies."""
    with httpx.Client(follow_redirects=True, timeout=60) as browser:
        yield browser


def read_user(browser, platform):
    """The Hub's description of the user of a browser; {} for nobody."""
    answer = browser.get(f"{platform.tool}/hub/api/user", headers={"Referer": f"{platform.tool}/hub/home"})
    return answer.json() if answer.status_code == 200 else {}


def test_a_launch_logs_a_student_in(platform, browser):
    form = open_launch(browser, platform, "7")
    answer = browser.post(form.address, data=form.values)
    assert answer.status_code == 200 and answer.url.path == "/hub/home"
    user = read_user(browser, platform)
    assert user["name"] == "ada" and not user["admin"]


def test_an_instructor_of_the_platform_is_an_admin_until_the_platform_says_otherwise(platform, browser):
    form = open_launch(browser, platform, "9")
    browser.post(form.address, data=form.values)
    assert read_user(browser, platform)["admin"]
    platform.alter = lambda claims: claims | {CLAIM("roles"): [MEMBER("Learner")]}
    form = open_launch(browser, platform, "9")
    browser.post(form.address, data=form.values)
    assert not read_user(browser, platform)["admin"]


def test_a_name_that_is_no_user_name_becomes_one(platform, browser):
    form = open_launch(browser, platform, "8")
    browser.post(form.address, data=form.values)
    assert read_user(browser, platform)["name"].startswith("bob-o-neil-")


REFUSED = {
    "audience": (lambda claims: claims | {"aud": "another-tool"}, "meant for another tool"),
    "issuer": (lambda claims: claims | {"iss": "https://platform.example"}, "comes from another platform"),
    "expired": (lambda claims: claims | {"iat": claims["iat"] - 900, "exp": claims["iat"] - 600}, "is too old"),
    "deployment": (lambda claims: claims | {CLAIM("deployment_id"): "deployment-2"}, "another deployment"),
    "course": (lambda claims: claims | {CLAIM("context"): {"id": "course-43"}}, "another course of the platform"),
    "nonce": (lambda claims: claims | {"nonce": "0" * 64}, "does not belong to this log-in"),
    "nobody": (lambda claims: {k: v for k, v in claims.items() if k != "sub"} | {"preferred_username": "x"}, "who you"),
    "name": (lambda claims: claims | {"sub": "10", "preferred_username": "ada"}, "belongs to another person"),
    "version": (lambda claims: claims | {CLAIM("version"): "1.1"}, "incomplete"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_launch_that_is_not_as_it_should_be_is_refused_with_one_sentence(platform, browser, case):
    launch(platform, "7")  # so that the name ada is taken
    platform.alter, words = REFUSED[case]
    form = open_launch(browser, platform, "7")
    answer = browser.post(form.address, data=form.values)
    assert answer.status_code == 403
    assert words in read_error(answer)
    assert not read_user(browser, platform)


def test_a_forged_signature_is_refused(platform, browser):
    platform.signs_with = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = open_launch(browser, platform, "7")
    answer = browser.post(form.address, data=form.values)
    assert answer.status_code == 403 and "does not have the platform's signature" in read_error(answer)


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_a_token_that_anybody_can_sign_is_refused(platform, browser, algorithm):
    form = open_launch(browser, platform, "7")
    claims = jwt.decode(form.values["id_token"], options={"verify_signature": False})
    key = httpx.get(f"{platform.url}/keys").json()["keys"][0]["n"] if algorithm == "HS256" else ""
    forged = jwt.encode(claims | {"sub": "9"}, key, algorithm=algorithm, headers={"kid": platform.kid})
    answer = browser.post(form.address, data=form.values | {"id_token": forged})
    assert answer.status_code == 403 and "does not have the platform's signature" in read_error(answer)


def test_a_launch_counts_once_even_with_the_cookies_of_its_browser(platform, browser):
    form = open_launch(browser, platform, "7")
    cookies = dict(browser.cookies)
    assert browser.post(form.address, data=form.values).status_code == 200
    with httpx.Client(cookies=cookies, follow_redirects=True) as thief:
        answer = thief.post(form.address, data=form.values)
        assert answer.status_code == 403 and "was used before" in read_error(answer)


def test_a_launch_belongs_to_the_browser_that_asked_for_it(platform, browser):
    form = open_launch(browser, platform, "7")
    with httpx.Client(follow_redirects=True) as other:
        answer = other.post(form.address, data=form.values)
        assert answer.status_code == 403 and "did not begin in this browser" in read_error(answer)


def test_claims_that_come_by_the_hubs_api_log_nobody_in(platform):
    launch(platform, "9")
    claims = platform.make_claims("9", "nonce", {"custom": "{}", "item": ""})
    answer = httpx.post(f"{platform.tool}/hub/api/users/grace/tokens", json={"auth": claims})
    assert answer.status_code == 403


def test_a_platform_that_is_down_is_one_sentence_and_the_hub_goes_on(platform, browser):
    form = open_launch(browser, platform, "7")
    platform.stop()
    try:
        answer = browser.post(form.address, data=form.values)
    finally:
        platform.start()
    assert answer.status_code == 503 and "public keys" in read_error(answer)
    assert launch(platform, "7").status_code == 200


def test_a_log_in_without_a_platform_says_where_the_class_is_opened(platform, browser):
    answer = browser.get(f"{platform.tool}/hub/home")
    assert answer.status_code == 403 and f"from its page on the platform {platform.url}" in read_error(answer)


def test_another_platform_cannot_begin_a_launch(platform, browser):
    query = {"iss": "https://platform.example", "login_hint": "7", "target_link_uri": platform.tool}
    answer = browser.get(f"{platform.tool}/hub/lti13/oauth_login", params=query)
    assert answer.status_code == 403 and "comes from another platform" in read_error(answer)


def test_a_platform_may_leave_out_the_client_id(platform):
    assert launch(platform, "7", without="client_id").status_code == 200


def test_a_launch_leads_to_the_page_it_names_and_to_no_other_site(platform):
    answer = launch(platform, "7", target=f"{platform.tool}/hub/token")
    assert answer.url.path == "/hub/token"
    answer = launch(platform, "7", target="https://platform.example/hub/token")
    assert str(answer.url) == f"{platform.tool}/hub/token"


def test_a_launch_says_where_grades_belong(platform, folder):
    item = platform.make_item("Regression")
    launch(platform, "7", item=item, custom=json.dumps({"lab": "1"}))
    launches = Launches(folder.launches)
    assert launches.find_item(CONTEXT, "01-regression") == item
    assert launches.find_person("ada") == ("7", CONTEXT)
    assert launches.find_items(CONTEXT) == f"{platform.url}/{CONTEXT}/lineitems"
    assert folder.launches.stat().st_mode & 0o077 == 0


def test_a_person_whose_name_changes_keeps_the_account(platform, folder):
    launches = Launches(folder.launches)
    assert launches.admit("emmy", "11", "a") == "emmy"
    assert launches.admit("emmy.noether", "11", "b") == "emmy"
    assert launches.find_person("emmy") == ("11", "b")
    assert launches.admit("emmy", "12", "a") is None
    assert launches.use_nonce("n", time.time() + 60) and not launches.use_nonce("n", time.time() + 60)


def test_the_public_keys_of_a_class_have_no_private_part(platform, folder):
    (key,) = httpx.get(f"{platform.tool}/hub/lti13/jwks").json()["keys"]
    assert key.keys() == {"kty", "n", "e", "kid", "use", "alg"}
    assert folder.tool_key.stat().st_mode & 0o077 == 0


def test_the_platform_accepts_what_is_signed_with_the_key_that_the_hub_publishes(platform, folder):
    accounts = {"client_id": CLIENT, "token_url": f"{platform.url}/token"}
    with lti_grades.Platform(accounts, folder) as service:
        address = service.make_item(f"{platform.url}{ITEMS}", "02-sgd", 10)
        assert service.find_item(f"{platform.url}{ITEMS}", "02-sgd") == address


def test_a_browser_comes_from_a_platform_on_another_site(tmp_path):
    certificate = tmp_path / "tls.pem"
    trustme.CA().issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(certificate)
    with Platform() as platform:
        platform.enrol("7", preferred_username="ada")
        accounts = ACCOUNTS.format(url=platform.url, client=CLIENT, deployment=DEPLOYMENT, context=CONTEXT)
        with start_hub(tmp_path / "class", accounts, certificate) as platform.tool, start_chromium() as browser:
            tab = browser.new_context(ignore_https_errors=True).new_page()
            tab.goto(f"http://localhost:{platform.port}/launch?user=7")  # to a browser another site than 127.0.0.1
            tab.wait_for_url(f"{platform.tool}/hub/home")
            assert "ada" in tab.inner_text("nav")
