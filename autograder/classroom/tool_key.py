"""The key pair with which a class signs what it sends to an LTI platform; made once, kept in the class's folder."""

import hashlib
import json

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from course.files import write_whole

BITS = 2048  # RS256 needs at least as many: RFC 7518, section 3.3


def load(path):
    """The private key at `path`, made where it is missing and readable for its owner alone."""
    if not path.exists():
        key = rsa.generate_private_key(public_exponent=65537, key_size=BITS)
        coding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        write_whole(path, key.private_bytes(coding, form, serialization.NoEncryption()), mode=0o600)
    return serialization.load_pem_private_key(path.read_bytes(), password=None)


def describe(key):
    """The public half as a JSON Web Key (RFC 7517), whose name is its thumbprint (RFC 7638)."""
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    needed = {name: public[name] for name in ("e", "kty", "n")}
    thumbprint = hashlib.sha256(json.dumps(needed, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    return needed | {"kid": thumbprint, "use": "sig", "alg": "RS256"}


def sign(key, claims):
    """A JSON Web Token of these claims, signed with RS256."""
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": describe(key)["kid"]})
