"""The cache of expansions: texts whose macros were expanded by an earlier load.

An expansion is believed of the same text under the same macros. Where its parts were written is
unpacked when somebody asks, which is when something is wrong.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, overload

from blake3 import blake3
from msgspec.msgpack import Decoder

from rocky.diagnostics.diagnostic import Span
from rocky.language.macros.expansion import Expansion
from rocky.language.macros.pieces import Piece, Place
from rocky.project.cache import cache_stamp, load_values, pack, save_values

EXPANSIONS: Final = "expansions.bin"
_CHECKED: Final = "checked"
"""The key under which it is kept that nothing is wrong with the macros themselves."""

Kept = tuple[str, dict[str, str], dict[int, int], bytes]
"""The text, the macros by path, the names that must not mean something else, the packed pieces."""

_KEPT: Final = Decoder(dict[str, Kept])
_PIECES: Final = Decoder(list[tuple[Any, ...]])


class ExpansionCache:
    """Expansions by the texts they are of; `macros` is a digest of all that they are made with."""

    def __init__(self, root: Path, macros: bytes) -> None:
        self._root = root
        self._stamp = cache_stamp() + macros
        self._known = load_values(root, EXPANSIONS, self._stamp, _KEPT)
        self._used: dict[str, Kept] = {}

    @property
    def is_checked(self) -> bool:
        """Whether an earlier load has found nothing wrong with the macros."""
        return _CHECKED in self._known

    def keep_checked(self) -> None:
        """Keep that nothing is wrong with the macros."""
        self._used[_CHECKED] = ("", {}, {}, b"")

    def recall(self, text: str) -> Expansion | None:
        """The expansion of a text, if it is known."""
        key = _key(text)
        kept = self._known.get(key)
        if kept is None:
            return None
        self._used[key] = kept
        expanded, macros, bans, packed = kept
        return Expansion(text, expanded, _KeptPieces(packed), macros, bans)

    def keep(self, expansion: Expansion) -> None:
        """Keep an expansion for the next load."""
        packed = pack([_packed(piece) for piece in expansion.pieces])
        macros, bans = dict(expansion.macros), dict(expansion.bans)
        self._used[_key(expansion.source)] = (expansion.text, macros, bans, packed)

    def save(self) -> None:
        """Replace what is kept by what this load has used."""
        if self._used.keys() != self._known.keys():
            save_values(self._root, EXPANSIONS, self._stamp, self._used)


def digest_texts(texts: Mapping[str, str]) -> bytes:
    """A digest of the texts of macros, by path."""
    hasher = blake3()
    for path, text in sorted(texts.items()):
        for each in (path, text):
            data = each.encode("utf-8", "surrogatepass")
            hasher.update(len(data).to_bytes(8, "big") + data)
    return hasher.digest()


def _key(text: str) -> str:
    return blake3(text.encode("utf-8", "surrogatepass")).hexdigest()


def _packed(piece: Piece) -> tuple[Any, ...]:
    return (
        piece.text,
        _packed_places(piece.places),
        piece.exact,
        piece.ban,
        _packed_places(piece.through),
    )


def _packed_places(places: Sequence[Place]) -> list[tuple[str | None, int, int]]:
    return [(place.path, *place.span) for place in places]


def _places(packed: Sequence[Any]) -> tuple[Place, ...]:
    return tuple(Place(path, Span(start, end)) for path, start, end in packed)


class _KeptPieces(Sequence[Piece]):
    """Pieces that are unpacked when they are first looked at."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._pieces: list[Piece] | None = None

    def _unpacked(self) -> list[Piece]:
        if self._pieces is None:
            self._pieces = [
                Piece(text, _places(places), exact, None, None, ban, _places(through))
                for text, places, exact, ban, through in _PIECES.decode(self._packed)
            ]
        return self._pieces

    @overload
    def __getitem__(self, index: int) -> Piece: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Piece]: ...
    def __getitem__(self, index: int | slice) -> Piece | Sequence[Piece]:
        return self._unpacked()[index]

    def __len__(self) -> int:
        return len(self._unpacked())

    def __iter__(self) -> Iterator[Piece]:
        return iter(self._unpacked())
