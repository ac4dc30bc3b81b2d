"""A picture as SVG: text, boxes and lines in the colours of one palette, for light and dark pages.

A page on a code host shows a picture as an image: no fonts or styles come from outside, and the
picture cannot see the colour of the page. So each lies on a ground of its own, and a reader whose
system is dark gets the dark palette.
"""

from dataclasses import dataclass, field
from html import escape

MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
ADVANCE = 0.602
"""The width of a letter of a fixed-width font, in sizes of it."""

COLOURS: dict[str, tuple[str, str]] = {
    # name: on a light page, on a dark page
    "ground": ("#ffffff", "#0d1117"),
    "ink": ("#1f2328", "#e6edf3"),
    "quiet": ("#59636e", "#9198a1"),
    "line": ("#b4bdc6", "#57606a"),
    "plain": ("#f6f8fa", "#161b22"),
    "blue": ("#0757b3", "#6cb0ff"),
    "blue-soft": ("#ddf4ff", "#10233f"),
    "green": ("#116329", "#56d364"),
    "green-soft": ("#dafbe1", "#10281b"),
    "amber": ("#7d4e00", "#e3b341"),
    "amber-soft": ("#fff8c5", "#2b2410"),
    # A terminal is dark on every page.
    "screen": ("#11151c", "#11151c"),
    "screen-line": ("#2d333b", "#3d444d"),
    "screen-ink": ("#d7dde4", "#d7dde4"),
    "screen-bold": ("#ffffff", "#ffffff"),
    "screen-quiet": ("#8b96a3", "#8b96a3"),
    "screen-red": ("#ff7b72", "#ff7b72"),
    "screen-blue": ("#79c0ff", "#79c0ff"),
    "screen-green": ("#7ee787", "#7ee787"),
    "screen-yellow": ("#e3b341", "#e3b341"),
}


@dataclass
class Picture:
    """What is drawn so far. Title and description are what somebody hears who cannot see it."""

    title: str
    description: str
    width: int
    height: int
    _parts: list[str] = field(default_factory=list)
    _used: set[str] = field(default_factory=lambda: {"ground"})

    def box(
        self,
        at: tuple[float, float],
        size: tuple[float, float],
        fill: str,
        *,
        edge: str = "line",
        round_by: float = 6,
    ) -> None:
        self._used |= {fill, edge}
        x, y = at
        width, height = size
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round_by:g}"'
            f' class="f-{fill} s-{edge}"/>'
        )

    def text(
        self,
        at: tuple[float, float],
        words: str,
        colour: str = "ink",
        *,
        size: float = 13,
        mono: bool = False,
        bold: bool = False,
        anchor: str = "start",
    ) -> None:
        """Words on a base line. Fixed-width ones are as wide as they are long in every font."""
        self._used.add(colour)
        x, y = at
        kind = " ".join(["mono" if mono else "sans", *(["bold"] if bold else [])])
        fit = f' textLength="{len(words) * size * ADVANCE:.1f}"' if mono else ""
        fit += ' lengthAdjust="spacingAndGlyphs"' if mono else ""
        place = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}"{place}{fit}'
            f' class="{kind} f-{colour}" xml:space="preserve">{escape(words, quote=False)}</text>'
        )

    def line(
        self, path: str, colour: str = "line", *, width: float = 1.5, arrow: bool = False
    ) -> None:
        """A line along an SVG path, with a head at its end if it is an arrow."""
        self._used.add(colour)
        head = f' marker-end="url(#head-{colour})"' if arrow else ""
        self._parts.append(
            f'<path d="{path}" stroke-width="{width:g}" class="none s-{colour}"{head}/>'
        )

    def dot(self, at: tuple[float, float], radius: float, fill: str, *, edge: str) -> None:
        self._used |= {fill, edge}
        self._parts.append(
            f'<circle cx="{at[0]:g}" cy="{at[1]:g}" r="{radius:g}" stroke-width="2"'
            f' class="f-{fill} s-{edge}"/>'
        )

    def format(self) -> str:
        """The whole file."""
        size = f"{self.width} {self.height}"
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}"'
                f' width="{self.width}" height="{self.height}" role="img"'
                ' aria-labelledby="title description">',
                f'<title id="title">{escape(self.title, quote=False)}</title>',
                f'<desc id="description">{escape(self.description, quote=False)}</desc>',
                *self._style(),
                *self._heads(),
                f'<rect x="0.5" y="0.5" width="{self.width - 1}" height="{self.height - 1}"'
                ' rx="10" class="f-ground s-line"/>',
                *self._parts,
                "</svg>",
                "",
            ]
        )

    def _style(self) -> list[str]:
        names = [name for name in COLOURS if name in self._used | {"line"}]
        light = [_rules(name, COLOURS[name][0]) for name in names]
        dark = [_rules(name, dark) for name in names for light, dark in [COLOURS[name]]]
        return [
            "<style>",
            f".mono {{ font-family: {MONO}; }}",
            f".sans {{ font-family: {SANS}; }}",
            ".bold { font-weight: 600; }",
            ".none { fill: none; }",
            *light,
            "@media (prefers-color-scheme: dark) {",
            *dark,
            "}",
            "</style>",
        ]

    def _heads(self) -> list[str]:
        named = [name for name in COLOURS if f"url(#head-{name})" in "".join(self._parts)]
        return [
            f'<marker id="head-{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8"'
            ' markerHeight="8" orient="auto" markerUnits="userSpaceOnUse">'
            f'<path d="M0,0 L8,4 L0,8 z" class="f-{name}"/></marker>'
            for name in named
        ]


def _rules(name: str, value: str) -> str:
    return f".f-{name} {{ fill: {value}; }} .s-{name} {{ stroke: {value}; }}"
