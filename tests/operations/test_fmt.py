"""`rocky fmt`: files in their one layout, proved to mean the same, or left alone."""

import os
import stat

import pytest

import rocky
from rocky.errors import NothingSelected

PIPELINE = "from t | where a>1 -- why\nderive {\nb:2,c:3}\n"
LAID_OUT = "from t\nwhere a > 1 -- why\nderive {\n    b: 2,\n    c: 3,\n}\n"
SQL = "select 1 as a  \n\n\n-- why\n"
TIDY = "SELECT 1 AS a\n\n-- why\n"


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "models/deep").mkdir(parents=True)
    (tmp_path / "rocky.toml").write_text('[pipeline.shop]\nmodels = "models/**"\n')
    (tmp_path / "models/t.sql").write_text(SQL)
    (tmp_path / "models/deep/p.rocky").write_text(PIPELINE)
    return tmp_path


def statuses(report):
    return {each.path: each.status for each in report.files}


def test_pipelines_are_laid_out_and_sql_is_left_alone(shop):
    before = list(rocky.open(shop).compile().models)
    report = rocky.open(shop).fmt()

    assert {"models/deep/p.rocky": "changed"} == statuses(report)
    assert LAID_OUT == (shop / "models/deep/p.rocky").read_text()
    assert SQL == (shop / "models/t.sql").read_text()
    assert {"models/deep/p.rocky": "unchanged"} == statuses(rocky.open(shop).fmt())
    assert before == list(rocky.open(shop).compile().models)


def test_sql_is_tidied_where_it_is_asked_for(shop):
    report = rocky.open(shop).fmt(sql=True)

    assert {"models/deep/p.rocky": "changed", "models/t.sql": "changed"} == statuses(report)
    assert TIDY == (shop / "models/t.sql").read_text()


def test_a_check_writes_nothing_and_shows_what_would_change(shop):
    report = rocky.open(shop).fmt(check=True)

    assert PIPELINE == (shop / "models/deep/p.rocky").read_text()
    assert not report.written
    assert "-from t | where a>1 -- why\n" in report.files[0].diff
    assert "+where a > 1 -- why\n" in report.files[0].diff


def test_front_matter_and_the_mode_of_a_file_stay(shop):
    path = shop / "models/deep/p.rocky"
    matter = '---toml\nintent   =   "x"\n---\n'
    path.write_text(matter + PIPELINE)
    path.chmod(0o640)
    rocky.open(shop).fmt(path)

    assert matter + LAID_OUT == path.read_text()
    assert 0o640 == stat.S_IMODE(path.stat().st_mode)


def test_a_text_that_is_no_pipeline_is_told_at_its_place_and_left_alone(shop):
    path = shop / "models/deep/p.rocky"
    path.write_text("---toml\n---\nfrom t\nwhre a > 1\n")
    (found,) = rocky.open(shop).fmt().files

    assert "unreadable" == found.status
    assert (
        "models/deep/p.rocky:4:1: expected a step or the end of the file, found `whre`;"
        " did you mean `where`?" == found.error
    )
    assert "whre" in path.read_text()


def test_a_layout_that_cannot_be_proved_is_told_by_file_and_the_others_are_done(shop, monkeypatch):
    (shop / "models/deep/a.rocky").write_text("from t | where odd>1")
    monkeypatch.setattr(
        "rocky.operations.check.fmt.means_the_same", lambda before, _: "odd" not in before
    )
    report = rocky.open(shop).fmt()
    odd, _ = report.files

    assert {"models/deep/a.rocky": "unreadable", "models/deep/p.rocky": "changed"} == (
        statuses(report)
    )
    assert odd.error is not None
    assert odd.error.startswith("models/deep/a.rocky: its layout cannot be proved")
    assert "from t | where odd>1" == (shop / "models/deep/a.rocky").read_text()
    assert LAID_OUT == (shop / "models/deep/p.rocky").read_text()


def test_two_minuses_in_a_row_are_laid_out(shop):
    path = shop / "models/deep/p.rocky"
    path.write_text("from t derive { y: - -x } sort - -a")
    (found,) = rocky.open(shop).fmt().files

    assert "changed" == found.status
    assert "from t\nderive { y: - -x }\nsort - -a\n" == path.read_text()


def test_variables_stay_as_they_are_written(shop):
    path = shop / "models/deep/p.rocky"
    path.write_text('from @var(table) where a>@var(low,1) and b=="@var(x)" select {@var(column)}')
    rocky.open(shop).fmt(path)

    assert (
        'from @var(table)\nwhere a > @var(low, 1) and b == "@var(x)"\nselect { @var(column) }\n'
        == path.read_text()
    )


def test_folders_are_walked_and_files_must_be_there(shop):
    opened = rocky.open(shop)
    (shop / "models/.hidden.rocky").write_text("from t where a>1")

    assert [str(shop / "models/deep/p.rocky")] == [each.path for each in opened.fmt(shop / "models", check=True).files]  # fmt: skip
    for path, words in (("nope.rocky", "does not exist"), ("rocky.toml", "neither"), ("models/t.sql", "is SQL")):  # fmt: skip
        with pytest.raises(NothingSelected, match=words):
            opened.fmt(shop / path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_cannot_be_written_is_an_error(shop):
    (shop / "models/deep").chmod(0o500)
    with pytest.raises(PermissionError):
        rocky.open(shop).fmt()
