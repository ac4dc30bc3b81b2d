import pytest

from rocky.diagnostics.diagnostic import Span
from rocky.lsp.documents import changed_text, location_of, path_in, uri_of
from rocky.lsp.positions import TextPositions

TEXT = "a🦊b\r\nsécond\rthird\n\nlast 🦊"


@pytest.mark.parametrize("offset", range(len(TEXT) + 1))
def test_an_offset_is_found_again_by_its_position(offset):
    positions = TextPositions(TEXT)
    inside_line_end = TEXT[offset - 1 : offset + 1] == "\r\n"

    found = positions.offset(positions.position(offset))

    assert (offset - 1 if inside_line_end else offset) == found


def test_an_emoji_is_two_units_and_a_position_inside_it_is_its_beginning():
    positions = TextPositions("x🦊y")

    assert {"line": 0, "character": 3} == positions.position(2)
    assert 1 == positions.offset({"line": 0, "character": 2})
    assert {
        "start": {"line": 0, "character": 1},
        "end": {"line": 0, "character": 3},
    } == positions.range(Span(1, 2))


@pytest.mark.parametrize(
    ("line", "character", "offset"),
    [(0, 99, 3), (99, 0, len(TEXT)), (-1, 0, 0), (3, 5, 18), (1, 0, 5)],
)
def test_a_position_beyond_its_line_is_the_end_of_it(line, character, offset):
    assert offset == TextPositions(TEXT).offset({"line": line, "character": character})


def test_changes_are_each_told_of_the_text_that_the_one_before_left():
    at = {"line": 0, "character": 1}
    changes = [
        {"range": {"start": at, "end": at}, "text": "🦊"},
        {
            "range": {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 4}},
            "text": "\nz",
        },
    ]

    assert "a🦊\nz" == changed_text("ab", changes)
    assert "all" == changed_text("ab", [*changes, {"text": "all"}])


def test_a_uri_names_the_same_file_both_ways_whatever_is_in_its_name(tmp_path):
    for name in ("with space", "per%cent", "é🦊", "a#b?c", "[x]"):
        location = str(tmp_path / name)
        assert location == location_of(uri_of(location))
    assert str(tmp_path) == location_of(f"file://localhost{tmp_path}")
    assert None is location_of("untitled:Untitled-1")


def test_a_file_is_of_the_project_through_links_too_and_one_beside_it_is_not(tmp_path):
    root = tmp_path / "real"
    (root / "models").mkdir(parents=True)
    (tmp_path / "link").symlink_to(root)

    assert "models/a.sql" == path_in(root, str(tmp_path / "link/models/a.sql"))
    assert "models/a.sql" == path_in(tmp_path / "link", str(root / "models/a.sql"))
    assert None is path_in(root, str(tmp_path / "real-not/models/a.sql"))
