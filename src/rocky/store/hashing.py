"""Hashing: the BLAKE3, the size and the footer of a file that Spark has just written.

On a cluster this runs where the data is, with what it imports of Rocky sent along by value:
executors have `blake3` and `obstore` but no Rocky. What it answers is a plain tuple. The footer is
put in order first (`rocky.store.encodings`), in the staged file itself, which nobody else reads.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import obstore
from blake3 import blake3
from obstore.store import S3Store

from rocky.store.encodings import order_encodings

_CHUNK: Final = 8 * 1024 * 1024
Examined = tuple[str, int, bytes]
"""Hex BLAKE3, size, and the footer's bytes; no bytes when the file does not end as Parquet does."""


@dataclass(frozen=True)
class LocalHasher:
    """Examines files below a folder. `threads` is how many may work on one file."""

    folder: str
    threads: int = 1

    def __call__(self, path: str) -> Examined:
        file = Path(self.folder, path)
        with file.open("rb") as opened:
            size = opened.seek(0, 2)
            opened.seek(max(size - 8, 0))
            start, length = footer_span(size, opened.read(8))
            opened.seek(start)
            footer = opened.read(length)
        ordered = order_encodings(footer)
        if ordered != footer:
            with file.open("r+b") as opened:
                opened.seek(start)
                opened.write(ordered)
        digest = blake3(max_threads=self.threads).update_mmap(file).hexdigest()
        return digest, size, ordered


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
        size = obstore.head(store, path)["size"]
        tail = _range(store, path, max(size - 8, 0), min(size, 8))
        start, length = footer_span(size, tail)
        footer = _range(store, path, start, length)
        ordered = order_encodings(footer)
        hasher = blake3()
        if ordered == footer:
            for chunk in obstore.get(store, path).stream(min_chunk_size=_CHUNK):
                hasher.update(bytes(chunk))
        else:
            # An object cannot be changed in part: it is put again, as it passes by.
            with obstore.open_writer(store, path) as opened:
                for piece in _pieces(store, path, start):
                    hasher.update(piece)
                    opened.write(piece)
                hasher.update(ordered + tail)
                opened.write(ordered + tail)
        return hasher.hexdigest(), size, ordered


def _pieces(store: S3Store, path: str, end: int) -> Iterator[bytes]:
    """An object's bytes up to a place."""
    for start in range(0, end, _CHUNK):
        yield _range(store, path, start, min(_CHUNK, end - start))


def _range(store: S3Store, path: str, start: int, length: int) -> bytes:
    return bytes(obstore.get_range(store, path, start=start, length=length)) if length else b""


def footer_span(size: int, tail: bytes) -> tuple[int, int]:
    """Where the footer is and how long, said by the last eight bytes; (0, 0) when nowhere."""
    if len(tail) != 8 or tail[4:] != b"PAR1":
        return 0, 0
    length = int(struct.unpack("<I", tail[:4])[0])
    start = size - 8 - length
    return (start, length) if start >= 4 else (0, 0)
