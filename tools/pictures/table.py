"""The anatomy of a table: its folder, the ledger's records of it, and a seal over both."""

from dataclasses import dataclass

from rocky.store.guard import GUARD
from tools.pictures.svg import Picture

DATA_FOLDER = ""
"""The folder of a table that its data files lie in, as a commit names it: "" or "name/"."""

FIRST_FILE = "0b5e…9c.parquet"
NEWEST_FILE = "7f12…e4.parquet"

ROW = 40
SIZE = 12
LEFT, RIGHT = 24, 500
WIDTH = 960


@dataclass(frozen=True)
class Part:
    """One name in a panel, how deep it is indented, and what it holds."""

    name: str
    words: str
    depth: int = 1


TABLE = (
    Part("_delta_log/", "one commit a change; Delta readers begin here"),
    Part("00000000000000000000.json", "add 0b5e…9c, signed by the run that wrote it", 2),
    Part("00000000000000000001.json", "remove 0b5e…9c, add 7f12…e4, signed", 2),
    Part(DATA_FOLDER + FIRST_FILE, "rows of version 0, kept until `rocky gc`"),
    Part(DATA_FOLDER + NEWEST_FILE, "rows now; the name is the BLAKE3 of the bytes"),
    Part(GUARD, "no Parquet: whoever reads the folder as such fails"),
)
LEDGER = (
    Part("run_history", "who ran what, from which git commit, at what cost"),
    Part("input_provenance", "the code and the inputs that a version was made of"),
    Part("output_artifacts", "the hash and the size of every file"),
    Part("evidence_chain", "each row hashed, each hash holding the one before"),
)
SEAL = (
    Part("head", "the last entry of the chain"),
    Part("tables", "the newest commit of every table"),
)
CHECKS = (
    ("b3sum", "a file has the bytes it is named by"),
    ("any Delta reader", "reads the rows, now or as of a version"),
    ("sqlite3", "reads the ledger"),
    ("ssh-keygen -Y verify", "signatures of commits, approvals, seals"),
)


def draw_table() -> Picture:
    parts = ", ".join(f"{part.name} ({part.words})" for part in (*TABLE, *LEDGER))
    height = 454
    picture = Picture(
        "The anatomy of a table",
        f"Three boxes. The folder of a table and the ledger hold {parts}. A seal, signed and kept"
        " elsewhere, names the head of the chain and the newest commit of every table. Arrows go"
        " from the newest commit to its file, from the ledger's output_artifacts to that file, and"
        " from the seal to the chain and to the commit. Below: what checks them without Rocky, "
        + ", ".join(f"{tool}: {what}" for tool, what in CHECKS)
        + ".",
        WIDTH,
        height,
    )
    tops = {
        "table": _panel(
            picture, (LEFT, 24), 400, "warehouse/…/fct_revenue/", "the table", TABLE, "blue"
        ),
        "ledger": _panel(
            picture, (RIGHT, 24), 436, ".rocky-state.db", "the ledger, SQLite", LEDGER, "green"
        ),
        "seal": _panel(
            picture,
            (RIGHT, 256),
            436,
            "seals/000000000060-84be….seal",
            "kept elsewhere",
            SEAL,
            "amber",
        ),
    }
    commit, newest = tops["table"][2], tops["table"][4]
    artifacts, chain = tops["ledger"][2], tops["ledger"][3]
    head, tables = tops["seal"]
    edge, middle = LEFT + 400, (LEFT + 400 + RIGHT) / 2
    picture.line(
        f"M{RIGHT},{artifacts} C{middle},{artifacts} {middle},{newest} {edge + 2},{newest}",
        "green",
        width=2,
        arrow=True,
    )
    picture.line(
        f"M{RIGHT},{tables} C{middle - 30},{tables} {middle + 30},{commit} {edge + 2},{commit}",
        "amber",
        width=2,
        arrow=True,
    )
    picture.line(
        f"M{LEFT + 30},{commit} C{LEFT - 4},{commit} {LEFT - 4},{newest} {LEFT + 17},{newest}",
        "blue",
        width=2,
        arrow=True,
    )
    right = RIGHT + 436
    picture.line(
        f"M{right - 10},{head} C{right + 14},{head} {right + 14},{chain} {right - 10},{chain}",
        "amber",
        width=2,
        arrow=True,
    )
    _checks(picture, tops["table"][-1] + 66)
    return picture


def _panel(
    picture: Picture,
    at: tuple[float, float],
    width: float,
    name: str,
    words: str,
    parts: tuple[Part, ...],
    colour: str,
) -> list[float]:
    """A box with a row for each part. The height of each row's middle."""
    x, y = at
    picture.box(at, (width, 46 + ROW * len(parts)), f"{colour}-soft", edge=colour)
    picture.text((x + 14, y + 26), name, mono=True, bold=True)
    picture.text((x + width - 14, y + 26), words, colour, size=SIZE, anchor="end")
    middles = []
    for number, part in enumerate(parts):
        top = y + 42 + ROW * number
        picture.text(
            (x + 6 + 14 * part.depth, top + 14), part.name, mono=True, size=SIZE, bold=True
        )
        picture.text((x + 6 + 14 * part.depth, top + 30), part.words, "quiet", size=SIZE)
        middles.append(top + 10)
    return middles


def _checks(picture: Picture, top: float) -> None:
    picture.text((LEFT, top), "Who checks it, without Rocky", bold=True)
    for number, (tool, what) in enumerate(CHECKS, 1):
        picture.text((LEFT, top + 3 + 22 * number), tool, "blue", mono=True, size=SIZE, bold=True)
        picture.text((LEFT + 160, top + 3 + 22 * number), what, "quiet", size=SIZE)
