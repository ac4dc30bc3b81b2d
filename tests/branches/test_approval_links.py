"""Approvals are files of the project: no link among them is followed."""

import pytest

from rocky.branches.approvals.statements import UnusableFile, load_statements


@pytest.mark.parametrize("part", [".rocky", ".rocky/approvals", ".rocky/approvals/b1"])
def test_approvals_behind_a_link_are_not_read(tmp_path, part):
    root, outside = tmp_path / "project", tmp_path / "outside"
    (outside / "approvals/b1").mkdir(parents=True)
    (root / part).parent.mkdir(parents=True)
    (root / part).symlink_to(outside)

    with pytest.raises(OSError, match="is a symbolic link"):
        load_statements(root, "b1")


def test_an_approval_that_is_a_link_is_unusable(tmp_path):
    folder = tmp_path / ".rocky/approvals/b1"
    folder.mkdir(parents=True)
    (tmp_path / "secret").write_text("mine")
    (folder / "a.json").symlink_to(tmp_path / "secret")

    (found,) = load_statements(tmp_path, "b1")
    assert isinstance(found, UnusableFile)
    assert "it cannot be read" in found.detail
