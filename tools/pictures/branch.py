"""The life of a branch: made of production's tables, tried and approved, promoted into them."""

from dataclasses import dataclass

from tools.pictures.svg import Picture

NAME = "net-of-vat"
BRANCH_Y = 92
MAIN_Y = 190
STEP = 132
LEFT = 110


@dataclass(frozen=True)
class Step:
    """One command of a branch's life, and what it does in few words."""

    command: str
    words: tuple[str, str]
    on_branch: bool


STEPS = (
    Step("branch create", ("every table, and", "no byte is copied"), on_branch=True),
    Step("run --branch", ("builds what differs,", "on the branch alone"), on_branch=True),
    Step("branch diff", ("its rows beside", "production's"), on_branch=True),
    Step("branch approve", ("a signature over", "these exact bytes"), on_branch=True),
    Step("branch promote", ("these files, in all", "tables or in none"), on_branch=False),
    Step("branch revert", ("back to what was", "there before"), on_branch=False),
)


def draw_branch() -> Picture:
    width = LEFT + STEP * len(STEPS) + 40
    picture = Picture(
        "The life of a branch",
        "Two lines, production and the branch " + NAME + ". The branch leaves production when it is"
        " made and comes back when it is promoted. "
        + " ".join(f"rocky {each.command}: {' '.join(each.words)}." for each in STEPS),
        width,
        272,
    )
    xs = [LEFT + STEP * number + 62 for number in range(len(STEPS))]
    last = max(x for x, step in zip(xs, STEPS, strict=True) if step.on_branch)
    back = min(x for x, step in zip(xs, STEPS, strict=True) if not step.on_branch)
    picture.text((24, BRANCH_Y + 4), NAME, "green", mono=True, size=12, bold=True)
    picture.text((24, MAIN_Y + 4), "production", "blue", mono=True, size=12, bold=True)
    picture.line(f"M{LEFT},{MAIN_Y} H{width - 28}", "blue", width=2.5, arrow=True)
    fork = xs[0] - 44
    picture.line(
        f"M{fork},{MAIN_Y} C{fork + 24},{MAIN_Y} {fork},{BRANCH_Y} {xs[0]},{BRANCH_Y} H{last}"
        f" C{last + 90},{BRANCH_Y} {back - 70},{MAIN_Y} {back - 9},{MAIN_Y}",
        "green",
        width=2.5,
        arrow=True,
    )
    words = "goes on undisturbed, with its nightly runs and its readers"
    picture.text(((xs[1] + xs[2]) / 2, MAIN_Y + 24), words, "quiet", size=12, anchor="middle")
    for x, step in zip(xs, STEPS, strict=True):
        _step(picture, x, step)
    return picture


def _step(picture: Picture, x: float, step: Step) -> None:
    y = BRANCH_Y if step.on_branch else MAIN_Y
    colour = "green" if step.on_branch else "blue"
    picture.dot((x, y), 7, f"{colour}-soft", edge=colour)
    top = y - 50 if step.on_branch else y + 28
    picture.text((x, top), step.command, mono=True, size=12, bold=True, anchor="middle")
    for number, words in enumerate(step.words, 1):
        picture.text((x, top + 3 + 15 * number), words, "quiet", size=12, anchor="middle")
