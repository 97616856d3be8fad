"""User names that an OpenID Connect provider says, without a Hub."""

import pytest
from tornado.web import HTTPError

from autograder.classroom.oidc import ProviderAuthenticator


@pytest.fixture
def authenticator():
    """An authenticator whose user names are e-mail addresses."""
    return ProviderAuthenticator(
        username_claim="email", authorize_url="https://x", token_url="https://x", client_id="x", client_secret="x"
    )


@pytest.mark.parametrize("word", [False, "false"])
def test_an_address_that_was_not_verified_is_no_user_name(authenticator, word):
    with pytest.raises(HTTPError, match="has not verified your e-mail address"):
        authenticator.user_info_to_username({"email": "Ada@example.org", "email_verified": word})


@pytest.mark.parametrize("more", [{"email_verified": True}, {"email_verified": "true"}, {}])
def test_an_address_is_a_user_name_if_the_provider_does_not_call_it_unverified(authenticator, more):
    assert authenticator.user_info_to_username({"email": "Ada@example.org"} | more) == "ada@example.org"


def test_another_claim_does_not_need_a_verified_address(authenticator):
    authenticator.username_claim = "sub"
    assert authenticator.user_info_to_username({"sub": "7", "email_verified": False}) == "7"
