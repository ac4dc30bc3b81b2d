from pathlib import Path
from random import Random

import pytest

from rocky.project.sources import SourceTable
from rocky.run.engine.input_pieces import PIECE_BYTES, count_pieces, source_files, split_files
from rocky.run.engine.protocol import SourcePin
from rocky.spark.interface import TARGET_FILE_BYTES
from tests.project.projects import load

MIB = 1 << 20
FILES = [(f"{number:02}.parquet", (40 + 7 * (number % 5)) * MIB) for number in range(12)]


def named(files, groups):
    return {frozenset(files[place][0] for place in group) for group in groups}


def test_which_files_are_a_piece_does_not_depend_on_their_order():
    expected = named(FILES, split_files(FILES, 5))
    for seed in range(20):
        shuffled = Random(seed).sample(FILES, len(FILES))

        assert expected == named(shuffled, split_files(shuffled, 5))


def test_every_file_is_in_one_piece_and_pieces_are_about_as_large():
    groups = split_files(FILES, 5)
    sizes = [sum(FILES[place][1] for place in group) for group in groups]

    assert list(range(len(FILES))) == sorted(place for group in groups for place in group)
    assert max(sizes) <= 1.5 * sum(sizes) / len(sizes)


@pytest.mark.parametrize(
    ("files", "size", "pieces"),
    [
        (0, 1, 0),
        (1, 3 * TARGET_FILE_BYTES, 1),
        (8, PIECE_BYTES // 8, 1),
        # Ten pieces would be two of two files and eight of one.
        (12, 53 * MIB, 12),
        (12, 30 * MIB, 6),
        (120, 5 * MIB, 10),
        (5, 120 * MIB, 5),
        (65, TARGET_FILE_BYTES, 33),
        (1000, PIECE_BYTES, 63),
        (3, 0, 1),
    ],
)
def test_a_piece_has_as_many_files_as_are_of_its_size(files, size, pieces):
    assert pieces == count_pieces([(f"{number}", size) for number in range(files)])


def test_a_file_that_is_too_large_for_a_piece_leaves_the_input_whole():
    assert split_files([("a", 3 * TARGET_FILE_BYTES), ("b", 1)], 2) is None
    assert split_files([("a", 4 * TARGET_FILE_BYTES)], 4) is None


def test_more_pieces_than_a_plan_should_have_leave_the_input_whole():
    files = [(f"{number}", TARGET_FILE_BYTES) for number in range(65)]

    assert split_files(files, 65) is None
    assert 64 == len(split_files(files[:64], 64))


def source(root: Path, form: str) -> SourceTable:
    text = f'[[source]]\nname = "raw.orders"\nformat = "{form}"\npath = "data"\n'
    return load(root, {"sources/raw.toml": text}).sources["raw.orders"]


def test_files_of_a_source_have_the_same_names_wherever_it_lies(tmp_path):
    def pin(root: str) -> SourcePin:
        return SourcePin(tuple((f"{root}/{name}", 1, 1) for name in ("k=1/a", "k=2/a", "k=2/b")))

    here = source_files(source(tmp_path, "parquet"), pin("file:///home/data"))

    assert here == source_files(source(tmp_path, "parquet"), pin("s3a://lake/raw/data"))
    assert 3 == len({name for name, _ in here})


def test_a_source_that_is_no_list_of_files_has_no_pieces(tmp_path):
    assert source_files(source(tmp_path, "delta"), SourcePin((("file:///a", 1, 1),))) == ()
