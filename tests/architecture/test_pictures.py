"""The pictures of the docs: drawn from what is true today, and readable by everybody."""

import json
import re
import sqlite3
from pathlib import Path
from xml.etree import ElementTree as ET

import click
import pytest

from rocky.cli.app import main as command_line
from rocky.store.guard import GUARD
from tests.architecture.console import README, ROOT
from tests.branches.shops import BranchShop, enter_shop
from tools.draw_pictures import FOLDER, format_pictures
from tools.pictures.branch import STEPS
from tools.pictures.svg import ADVANCE
from tools.pictures.table import DATA_FOLDER, LEDGER, TABLE

PICTURES = sorted(FOLDER.glob("*.svg"))
PHOTOGRAPHS = sorted(FOLDER.glob("*.png"))
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
SHOWN = re.compile(r"!\[(?P<words>[^\]]*)\]\((?P<target>[^)\s]+)\)")
RULE = re.compile(r"\.f-([\w-]+) \{ fill: (#[0-9a-f]{6}); \}")
DARK = "@media (prefers-color-scheme: dark)"
SVG = "{http://www.w3.org/2000/svg}"
READABLE = 4.5
"""The least contrast of text on its ground, by the guidelines for accessible pages (WCAG AA)."""


def shown() -> list[tuple[Path, str, Path]]:
    """Every picture in a page: the page, the words in its place, the file."""
    return [
        (page, found["words"], (page.parent / found["target"]).resolve())
        for page in PAGES
        for found in SHOWN.finditer(page.read_text())
    ]


@pytest.mark.slow
def test_the_pictures_are_what_the_playground_says_today(tmp_path, bless):
    drawn = format_pictures(tmp_path)
    if bless:
        for name, text in drawn.items():
            (FOLDER / name).write_text(text)

    assert drawn == {path.name: path.read_text() for path in PICTURES}


def test_every_picture_is_in_a_page_and_every_picture_of_a_page_exists():
    assert {*PICTURES, *PHOTOGRAPHS} == {picture for _, _, picture in shown()}


def test_every_page_says_in_words_what_its_picture_shows():
    assert [] == [(page, target) for page, words, target in shown() if len(words.split()) < 4]


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_can_be_read_aloud_and_needs_nothing_from_elsewhere(path):
    picture = ET.parse(path).getroot()
    named = {picture.find(SVG + "title").get("id"), picture.find(SVG + "desc").get("id")}

    assert picture.get("role") == "img"
    assert named == set(picture.get("aria-labelledby").split())
    assert picture.find(SVG + "title").text
    assert len(picture.find(SVG + "desc").text) > 100
    assert [] == re.findall(r"href|@import|url\((?!#)|<script|<image", path.read_text())


def schemes(picture: ET.Element) -> list[dict[str, str]]:
    """The colours by their names, on a light page and on a dark one."""
    light, _, dark = picture.find(SVG + "style").text.partition(DARK)
    return [dict(RULE.findall(light)), dict(RULE.findall(dark))]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def fill(element: ET.Element) -> str:
    (name,) = re.findall(r"f-([\w-]+)", element.get("class"))
    return name


def ground(picture: ET.Element, text: ET.Element) -> ET.Element:
    """The box that a text begins on: the last one drawn there."""
    x, y = float(text.get("x")), float(text.get("y"))
    return [
        box
        for box in picture.iter(SVG + "rect")
        if 0 <= x - float(box.get("x")) <= float(box.get("width"))
        and 0 <= y - float(box.get("y")) <= float(box.get("height"))
    ][-1]


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_the_words_of_a_picture_are_readable_on_light_and_on_dark_pages(path):
    picture = ET.parse(path).getroot()
    faint = [
        (text.text, number, round(contrast(colours[fill(text)], colours[fill(box)]), 1))
        for number, colours in enumerate(schemes(picture))
        for text in picture.iter(SVG + "text")
        for box in [ground(picture, text)]
        if contrast(colours[fill(text)], colours[fill(box)]) < READABLE
    ]

    assert [] == faint


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_no_words_run_out_of_the_box_they_are_in(path):
    picture = ET.parse(path).getroot()
    out = []
    for text in picture.iter(SVG + "text"):
        width = len(text.text) * float(text.get("font-size")) * ADVANCE
        anchor = {"middle": width / 2, "end": width}.get(text.get("text-anchor", ""), 0)
        left = float(text.get("x")) - anchor
        box = ground(picture, text)
        right = float(box.get("x")) + float(box.get("width"))
        if left < float(box.get("x")) or left + width > right + 1:
            out.append(text.text)

    assert [] == out


def test_the_steps_of_a_branch_are_commands():
    context = click.Context(command_line)
    lost = []
    for step in STEPS:
        command: click.Command | None = command_line
        options = {word for word in step.command.split() if word.startswith("-")}
        for word in step.command.split():
            if word not in options and isinstance(command, click.Group):
                command = command.get_command(context, word)
        known = {name for each in command.params for name in each.opts} if command else set()
        if command is None or options - known:
            lost.append(step.command)

    assert [] == lost


@pytest.mark.slow
def test_the_anatomy_of_a_table_is_that_of_a_table_built_twice(tmp_path, monkeypatch):
    enter_shop(tmp_path, monkeypatch)
    shop = BranchShop(tmp_path)
    shop.create()
    shop.do("run")
    shop.write(stg_orders="SELECT id, lower(country) AS country FROM raw.orders")
    shop.do("run")
    folder = tmp_path / "warehouse/spark_catalog/default/stg_orders"
    commits = sorted((folder / "_delta_log").iterdir())
    actions = [json.loads(line) for commit in commits for line in commit.read_text().splitlines()]
    named = {each["add"]["path"] for each in actions if "add" in each}
    with sqlite3.connect(shop.state()) as ledger:
        tables = {name for (name,) in ledger.execute("SELECT name FROM sqlite_master")}

    drawn = {re.sub(r"[0-9a-f]{4}…[0-9a-f]{2}", "HASH", part.name) for part in TABLE}
    found = {re.sub(r"[0-9a-f]{64}", "HASH", name) for name in named}
    assert {"_delta_log/", *(commit.name for commit in commits), *found, GUARD} == drawn
    assert {file.name for file in folder.iterdir()} == {"_delta_log", GUARD, *named}
    assert {f"{DATA_FOLDER}HASH.parquet"} == found
    assert {part.name for part in LEDGER} <= tables
