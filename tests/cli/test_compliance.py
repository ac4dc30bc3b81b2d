"""`rocky compliance` in a terminal: a row a column, exceptions with their ways, an exit code."""

from tests.operations.test_compliance import PROJECT, TAKEN_OFF


def written(root, files=PROJECT):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def test_each_column_is_a_row_and_each_environment_a_column(rocky, tmp_path, monkeypatch):
    monkeypatch.chdir(written(tmp_path, {**PROJECT, "models/mails.toml": TAKEN_OFF}))
    shown = rocky("compliance", "-o", "table")

    lines = shown.out.splitlines()
    assert 0 == shown.code
    assert ["MODEL", "COLUMN", "TAG", "DEFAULT", "DEV", "DECLARED", "AT"] == lines[0].split()
    assert "people  email           pii       redact (write)     clear by decision" in shown.out
    assert "people  note            internal  clear, allowed     clear, allowed" in shown.out
    assert (
        "exception: people.salary (secret) in default, dev: no mask for the tag `secret`\n"
        "  raw.people.salary -> people.salary\n" in shown.out
    )
    assert (
        "declassified: mails.mail (pii), approved by dpo@example.com: on the public list\n"
        "  raw.people.email -> people.email -> mails.mail\n" in shown.out
    )
    assert lines[-1] == (
        "5 classified columns, 0 masked, 3 clear by decision, 1 clear, as `allow_unmasked` says,"
        " 1 declassified, 3 exceptions"
    )


def test_exceptions_fail_the_command_only_when_that_is_asked(rocky, tmp_path, monkeypatch):
    monkeypatch.chdir(written(tmp_path))

    assert 0 == rocky("compliance", "--exceptions-only", "-o", "table").code
    assert 1 == rocky("compliance", "--fail-on", "exception", "-o", "table").code
    assert 1 == rocky("compliance", "--fail-on", "exception", "-o", "json").code
    alone = rocky("compliance", "--exceptions-only", "--env", "dev", "-o", "table").out
    assert "email" not in alone
    assert ["MODEL", "COLUMN", "TAG", "DEV", "DECLARED", "AT"] == alone.splitlines()[0].split()


def test_what_was_declassified_is_told_with_since_when(rocky, tmp_path, monkeypatch):
    monkeypatch.chdir(written(tmp_path, {**PROJECT, "models/mails.toml": TAKEN_OFF}))
    shown = rocky("compliance", "--declassified", "-o", "table")

    assert (
        0,
        "declassified: mails.mail (pii), approved by dpo@example.com: on the public list\n"
        "  raw.people.email -> people.email -> mails.mail\n"
        "  in no commit; carried out by no run\n",
    ) == (shown.code, shown.out)
    (tmp_path / "models/mails.toml").unlink()
    assert "nothing is declassified\n" == rocky("compliance", "--declassified", "-o", "table").out


def test_a_project_without_tags_says_so(rocky, shop, monkeypatch):
    monkeypatch.chdir(shop)

    assert "no table that the project writes has a classified column\n" == (
        rocky("compliance", "-o", "table").out
    )
