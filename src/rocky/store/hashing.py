"""Hashing: the BLAKE3, the size and the footer of a file that Spark has just written.

On a cluster this runs where the data is: the module travels to executors by value, which have
`blake3` and `obstore` but no Rocky. So it imports nothing of Rocky's, and what it answers is a
plain tuple.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import obstore
from blake3 import blake3
from obstore.store import S3Store

Examined = tuple[str, int, bytes]
"""Hex BLAKE3, size, and the footer's bytes; no bytes when the file does not end as Parquet does."""


@dataclass(frozen=True)
class LocalHasher:
    """Examines files below a folder. `threads` is how many may work on one file."""

    folder: str
    threads: int = 1

    def __call__(self, path: str) -> Examined:
        file = Path(self.folder, path)
        digest = blake3(max_threads=self.threads).update_mmap(file).hexdigest()
        with file.open("rb") as opened:
            size = opened.seek(0, 2)
            opened.seek(max(size - 8, 0))
            start, length = footer_span(size, opened.read(8))
            opened.seek(start)
            return digest, size, opened.read(length)


@dataclass(frozen=True)
class ObjectHasher:
    """Examines objects of a bucket below a prefix, streaming each once.

    `settings` are obstore's, with credentials: an executor may have none of its own.
    """

    bucket: str
    prefix: str
    settings: Mapping[str, str] = field(repr=False)

    def __call__(self, path: str) -> Examined:
        store = S3Store(self.bucket, prefix=self.prefix, config=dict(self.settings))  # type: ignore[arg-type]  # a TypedDict by any other name
        hasher, size, tail = blake3(), 0, b""
        for chunk in obstore.get(store, path).stream(min_chunk_size=8 * 1024 * 1024):
            piece = bytes(chunk)
            hasher.update(piece)
            size += len(piece)
            tail = (tail + piece)[-8:]
        start, length = footer_span(size, tail)
        footer = (
            bytes(obstore.get_range(store, path, start=start, length=length)) if length else b""
        )
        return hasher.hexdigest(), size, footer


def footer_span(size: int, tail: bytes) -> tuple[int, int]:
    """Where the footer is and how long, said by the last eight bytes; (0, 0) when nowhere."""
    if len(tail) != 8 or tail[4:] != b"PAR1":
        return 0, 0
    length = int(struct.unpack("<I", tail[:4])[0])
    start = size - 8 - length
    return (start, length) if start >= 4 else (0, 0)
