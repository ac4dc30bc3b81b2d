"""What `rocky fmt` prints, and how it exits."""

import pytest

FILES = {
    "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n',
    "models/t.sql": "select 1 as a\n",
    "models/p.rocky": "from t | where a>1\n",
}


@pytest.fixture
def shop(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_check_fails_until_the_files_are_laid_out(shop, rocky):
    failed = rocky("-o", "table", "fmt", "--check")
    assert (1, "would change models/p.rocky\n1 file, 1 to be laid out\n") == (
        failed.code,
        failed.out,
    )
    wrote = rocky("-o", "table", "fmt")
    assert (0, "wrote models/p.rocky\n1 file, 1 laid out anew\n") == (wrote.code, wrote.out)
    passed = rocky("-o", "table", "fmt", "--check")
    assert (0, "1 file, all as it is\n") == (passed.code, passed.out)


def test_a_diff_is_printed_and_nothing_is_written(shop, rocky):
    answer = rocky("-o", "table", "fmt", "--diff")

    assert 0 == answer.code
    assert answer.out.endswith("@@ -1 +1,2 @@\n-from t | where a>1\n+from t\n+where a > 1\n")
    assert FILES["models/p.rocky"] == (shop / "models/p.rocky").read_text()


def test_a_broken_file_fails_and_the_others_are_laid_out(shop, rocky):
    (shop / "models/q.rocky").write_text("from t whre a")
    answer = rocky("-o", "table", "fmt")

    assert 1 == answer.code
    assert "wrote models/p.rocky\n2 files, 1 laid out anew, 1 unreadable\n" == answer.out
    assert "error: models/q.rocky:1:8: expected a step or the end of the file, found `whre`" in answer.err  # fmt: skip


def test_json_has_every_file(shop, rocky):
    found = rocky("-o", "json", "fmt", "--sql", "--check").json

    assert ["models/p.rocky", "models/t.sql"] == [each["path"] for each in found["files"]]
    assert not found["written"]


def test_a_file_that_cannot_be_written_is_told_and_the_others_are_done(shop, rocky):
    # There is no room for the name of a draft beside it.
    long = f"models/{'q' * 245}.rocky"
    (shop / long).write_text("from t | where a>2\n")
    answer = rocky("-o", "table", "fmt")

    assert 1 == answer.code
    assert f"error: {long}: cannot be written: File name too long" in answer.err.replace("\n", "")
    assert answer.out.endswith("2 files, 1 laid out anew, 1 unwritable\n")
    assert "from t\nwhere a > 1\n" == (shop / "models/p.rocky").read_text()
