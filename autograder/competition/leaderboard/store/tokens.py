"""Tokens of groups and of the instructor, and codes for one group each. Of these only checksums are stored."""

import hashlib
import secrets

TOKEN_BYTES = 24  # 192 bits cannot be guessed
CODE_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that looks like another
CODE_LENGTH = 10  # 49 bits: more than can be tried on a board


def make_token():
    """A new token, as text that fits into a URL and a header."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def make_code():
    """A new code to join with, easy to copy by hand."""
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))


def hash_token(token):
    """The checksum of a token, which is all that is stored."""
    return hashlib.sha256(token.encode()).hexdigest()
