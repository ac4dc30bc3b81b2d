"""Hashes of what a TOML document says, after variables are resolved.

A document without variables is its text. One with variables also depends on the
environment, so its values are hashed; the digest gives none of them away.
"""

import json

from blake3 import blake3

from rocky.project.documents import Document


def digest_data(document: Document) -> bytes:
    """A BLAKE3 digest that changes when the document or a variable in it does."""
    if "${" not in document.text:
        return blake3(document.text.encode()).digest()
    data = json.dumps(document.data, sort_keys=True, default=str)
    return blake3(f"{document.text}\0{data}".encode()).digest()
