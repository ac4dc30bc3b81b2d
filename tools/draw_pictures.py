"""Draw the pictures of the docs anew: `python tools/draw_pictures.py`. Asks no Spark."""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tools.pictures.branch import draw_branch  # noqa: E402 - found by the line above
from tools.pictures.graph import draw_lineage  # noqa: E402
from tools.pictures.shop import make_shop  # noqa: E402
from tools.pictures.table import draw_table  # noqa: E402
from tools.pictures.terminal import draw_session  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"


def format_pictures(scratch: Path) -> dict[str, str]:
    """Every picture's file, by its name. The shop is made in the scratch folder."""
    shop = make_shop(scratch)
    drawn = {
        "session": draw_session(shop),
        "lineage": draw_lineage(shop),
        "branch": draw_branch(),
        "table": draw_table(),
    }
    return {f"{name}.svg": picture.format() for name, picture in drawn.items()}


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in format_pictures(Path(scratch)).items():
            (FOLDER / name).write_text(text)
            print(f"docs/pictures/{name}")


if __name__ == "__main__":
    main()
