"""A terminal session: commands typed in the shop, and what they really show."""

from collections.abc import Iterator

from rich.style import Style
from rich.text import Text

from tools.pictures.shop import COLUMNS, Shop
from tools.pictures.svg import ADVANCE, Picture

SIZE = 13
LEADING = 18
MARGIN = 18
BAR = 34
INKS = {1: "screen-red", 2: "screen-green", 3: "screen-yellow", 4: "screen-blue"}
"""By the number of the terminal's colour."""

CONTRACT = "models/marts/fct_revenue.sql"
PROMISED = "coalesce(country, 'unknown') AS country,"


def draw_session(shop: Shop) -> Picture:
    """A mistake that Spark would run, found at its line; and where a number comes from."""
    lines = [
        *_typed(shop, "rocky compile"),
        *_note(f"# edit {CONTRACT}: `{PROMISED}` becomes `country,`"),
    ]
    with shop.edited(CONTRACT, PROMISED, "country,"):
        lines += _typed(shop, "rocky compile")
    lines += _typed(shop, "rocky lineage fct_revenue.amount | head -4")
    return draw_terminal(
        lines,
        "Rocky finds a broken promise before anything runs",
        "A terminal. rocky compile finds no errors in the shop. A coalesce is taken out of a model;"
        " rocky compile reports, without starting Spark, that the column country can be null though"
        " its contract promises that it never is, at the line of the query and at the line of the"
        " contract, and what would clear it. rocky lineage then shows that fct_revenue.amount is"
        " summed from fct_orders.amount, which is stg_orders.amount, which is raw.orders.amount.",
    )


def _typed(shop: Shop, line: str) -> Iterator[Text]:
    yield Text.assemble(("$ ", "dim"), (line, "bold"))
    yield from Text.from_ansi(shop.ask(line).rstrip()).split("\n")
    yield Text("")


def _note(words: str) -> Iterator[Text]:
    yield Text(words, "dim")


def draw_terminal(lines: list[Text], title: str, description: str) -> Picture:
    """Lines with styles as a terminal shows them, long ones broken before its edge."""
    while lines and not lines[-1].plain:
        lines.pop()
    rows = [row for line in lines for row in _rows(line)]
    width = round(2 * MARGIN + COLUMNS * SIZE * ADVANCE)
    height = BAR + MARGIN + len(rows) * LEADING + 4
    picture = Picture(title, description, width, height)
    picture.box((0.5, 0.5), (width - 1, height - 1), "screen", edge="screen-line", round_by=10)
    for number, colour in enumerate(("screen-red", "screen-yellow", "screen-green")):
        picture.dot((MARGIN + 4 + 18 * number, 18), 5, colour, edge=colour)
    for number, row in enumerate(rows):
        y = BAR + MARGIN + number * LEADING
        for start, words, style in _runs(row):
            x = MARGIN + start * SIZE * ADVANCE
            picture.text(
                (round(x, 1), y), words, _ink(style), size=SIZE, mono=True, bold=bool(style.bold)
            )
    return picture


def _rows(line: Text) -> list[Text]:
    """The line, broken at the last blank before the edge: a terminal would break the word."""
    rows = []
    while len(line) > COLUMNS:
        blank = line.plain.rfind(" ", 0, COLUMNS)
        row, line = line.divide([blank + 1])
        rows.append(row)
    return [*rows, line]


def _runs(row: Text) -> Iterator[tuple[int, str, Style]]:
    """Where each piece of one style starts, what it says, and its style; blanks are left out."""
    start = 0
    styles = [_style_at(row, place) for place in range(len(row))]
    for place in range(1, len(row) + 1):
        if place == len(row) or styles[place] != styles[start]:
            words = row.plain[start:place]
            lead = len(words) - len(words.lstrip())
            if words.strip():
                yield start + lead, words.strip(), styles[start]
            start = place


def _style_at(row: Text, place: int) -> Style:
    styles = [span.style for span in row.spans if span.start <= place < span.end]
    whole = [row.style, *styles]
    return Style.combine(Style.parse(each) if isinstance(each, str) else each for each in whole)


def _ink(style: Style) -> str:
    if style.color is not None and style.color.number is not None:
        return INKS[style.color.number % 8]
    if style.dim:
        return "screen-quiet"
    return "screen-bold" if style.bold else "screen-ink"
