"""Signatures of exports with Ed25519 (RFC 8032): who holds the key has seen all rows up to the last one.

What is signed is the text

    dpspec-account export 1
    ROWS
    HASH

with the number of rows and the hash of the last one, which covers every column of every row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from dpspec.plugin.applications import read_bytes
from dpspec_accounts.errors import AccountError, HistoryError
from dpspec_accounts.history import Event

MOST_BYTES = 1 << 16
"""A file of a key is read up to this size."""
_PUBLIC, _VALUE = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{128}")


def signed(events: Sequence[Event], key: str | Path) -> dict[str, str]:
    """The signature of rows, as JSON data: the public key and the signature in hexadecimal digits.

    Args:
        events: all rows.
        key: a PEM file with an Ed25519 private key, without a password.

    Raises:
        AccountError: the file holds no such key.
    """
    try:
        found = load_pem_private_key(read_bytes(Path(key), MOST_BYTES), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        found = None
    if not isinstance(found, Ed25519PrivateKey):
        advice = "make one with `openssl genpkey -algorithm ed25519 -out key.pem`"
        raise AccountError("key", "is no Ed25519 private key in PEM without a password", advice)
    return {"public_key": _hex(found.public_key()), "value": found.sign(_message(events)).hex()}


def check_signature(events: Sequence[Event], given: Mapping[str, Any] | None, public_key: str | Path | None) -> str | None:
    """The public key that signed these rows, in hexadecimal digits; None for unsigned rows.

    Args:
        events: all rows.
        given: the signature of the export.
        public_key: a PEM file with the key that must have signed; None for any.

    Raises:
        HistoryError: the signature is not that of these rows, or of another key, or missing. AccountError: no public key.
    """
    wanted = None if public_key is None else _public(public_key)
    if given is None:
        if wanted is not None:
            raise HistoryError("signature", "is missing", "ask for an export that was made with --sign")
        return None
    texts = given.keys() == {"public_key", "value"} and all(isinstance(one, str) for one in given.values())
    if not texts or not _PUBLIC.fullmatch(given["public_key"]) or not _VALUE.fullmatch(given["value"]):
        raise HistoryError("signature", "is no Ed25519 signature with its public key in hexadecimal digits")
    if wanted is not None and given["public_key"] != wanted:
        raise HistoryError("signature", "is that of another key", "do not rely on this export")
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(given["public_key"]))
        key.verify(bytes.fromhex(given["value"]), _message(events))
    except (InvalidSignature, ValueError):
        raise HistoryError("signature", "is not that of these rows", "do not rely on this export") from None
    return str(given["public_key"])


def _public(path: str | Path) -> str:
    try:
        found = load_pem_public_key(read_bytes(Path(path), MOST_BYTES))
    except (ValueError, UnsupportedAlgorithm):
        found = None
    if not isinstance(found, Ed25519PublicKey):
        advice = "make it with `openssl pkey -in key.pem -pubout -out public.pem`"
        raise AccountError("key", "is no Ed25519 public key in PEM", advice)
    return _hex(found)


def _hex(key: Ed25519PublicKey) -> str:
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def _message(events: Sequence[Event]) -> bytes:
    return f"dpspec-account export 1\n{len(events)}\n{events[-1].hash if events else ''}\n".encode("ascii")
