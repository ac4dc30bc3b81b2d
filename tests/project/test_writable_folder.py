"""A folder can be written when something was written there, whatever its permissions say."""

import errno
from pathlib import Path

from rocky.project.writable_folder import open_problem, write_problem


def test_a_folder_is_tried_and_nothing_is_left(tmp_path):
    assert None is write_problem(tmp_path)
    assert None is write_problem(tmp_path / "not" / "yet")
    assert [] == list(tmp_path.iterdir())


def test_what_even_root_cannot_write_is_found():
    problem = write_problem(Path("/proc/rocky/warehouse"))

    assert "/proc" == problem.filename


def test_a_file_or_a_dangling_link_in_a_folders_place_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "link"):
        problem = write_problem(tmp_path / name / "warehouse")

        assert (errno.ENOTDIR, str(tmp_path / name)) == (problem.errno, problem.filename)


def test_a_file_is_tried_by_opening_it(tmp_path):
    (tmp_path / "state").write_text("x")

    assert None is open_problem(tmp_path / "state")
    assert None is open_problem(tmp_path / "absent")
    assert isinstance(open_problem(tmp_path), IsADirectoryError)
