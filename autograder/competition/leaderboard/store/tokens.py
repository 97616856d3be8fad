"""Tokens of groups and of the instructor. The database and the log hold only their checksums."""

import hashlib
import secrets

TOKEN_BYTES = 24  # 192 bits cannot be guessed


def make_token():
    """A new token, as text that fits into a URL and a header."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def hash_token(token):
    """The checksum of a token, which is all that is stored."""
    return hashlib.sha256(token.encode()).hexdigest()
