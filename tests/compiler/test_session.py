import gc
import shutil
from pathlib import Path
from random import Random

import pytest

from rocky.api.projects import create_playground
from rocky.compiler.session import Session, Snapshot, Superseded
from rocky.errors import ProjectNotFound
from rocky.project import load_project
from tests.compiler.edits import cold, differences, editable, mutate, open_session, said
from tests.compiler.projects import SHOP, write

CASES = Path(__file__).parents[1] / "cases"
FOLDERS = [
    folder
    for pattern in ("diagnostics/*/*", "projects/*")
    for folder in sorted(CASES.glob(pattern))
]


@pytest.fixture
def shop(tmp_path):
    root = tmp_path / "shop"
    write(root, SHOP)
    return root


def codes(snapshot: Snapshot, path: str) -> list[str]:
    return [each.code.value for each in snapshot.findings.get(path, ())]


def assert_as_if_cold(session: Session, root: Path, texts: dict[str, str | None]) -> None:
    scratch = root.parent / "cold"

    assert session.snapshot.settled
    assert {} == differences(
        said(cold(root, texts, scratch)), said(session.snapshot.compilation)
    ), texts


def test_an_edit_that_readers_cannot_see_binds_one_model(shop):
    session = open_session(shop)

    session.edit({"models/orders.sql": SHOP["models/orders.sql"] + "-- a comment\n"})

    assert {"orders"} == session.bound


def test_an_edit_that_readers_see_binds_them_and_stops_where_nothing_differs(shop):
    session = open_session(shop)

    session.edit({"models/orders.sql": "SELECT id, amount, note, 1 AS one FROM raw.orders\n"})

    assert {"orders", "totals", "notes"} == session.bound


def test_what_an_unsaved_text_breaks_is_found_in_readers_and_goes_when_it_is_mended(shop):
    session = open_session(shop)

    broken = session.edit({"models/orders.sql": "SELECT id, note FROM raw.orders\n"})
    assert ["E003"] == codes(broken, "models/totals.sql")
    assert ("models/totals.sql",) == broken.changed

    mended = session.drop(["models/orders.sql"])
    assert [] == codes(mended, "models/totals.sql")
    assert ("models/totals.sql",) == mended.changed


def test_the_edited_file_comes_first_among_those_whose_findings_changed(shop):
    session = open_session(shop)

    found = session.edit({"models/orders.sql": "SELECT id, nope AS amount FROM raw.orders\n"})

    assert "models/orders.sql" == found.changed[0]
    assert set(found.changed) > {"models/orders.sql"}


def test_a_pause_leaves_readers_for_later_and_settling_looks_at_them(shop):
    session = open_session(shop)

    found = session.edit({"models/orders.sql": "SELECT id, note FROM raw.orders\n"}, lambda: True)
    assert not found.settled
    assert [] == codes(found, "models/totals.sql")

    found = session.settle()
    assert found.settled
    assert ["E003"] == codes(found, "models/totals.sql")


def test_readers_that_were_left_are_looked_at_although_another_model_is_edited(shop):
    session = open_session(shop)
    texts = {"models/orders.sql": "SELECT id, note FROM raw.orders\n"}
    session.edit(texts, lambda: True)
    texts["models/notes.sql"] = "SELECT o.id, lower(o.note) AS note FROM orders AS o\n"

    session.edit({"models/notes.sql": texts["models/notes.sql"]})

    assert_as_if_cold(session, shop, texts)


def test_a_model_that_breaks_again_in_the_same_way_binds_no_reader_again(shop):
    session = open_session(shop)
    broken = {"models/orders.sql": "SELECT (\n"}
    session.edit(broken)
    session.drop(broken)

    session.edit({"models/orders.sql": "SELECT ((\n"})

    assert {"orders"} == session.made


def test_a_reader_that_cannot_see_what_is_retyped_is_not_bound(shop):
    session = open_session(shop)
    text = "SELECT id, CAST(amount AS DOUBLE) AS amount, note FROM raw.orders\n"
    texts: dict[str, str | None] = {"models/orders.sql": text}

    session.edit(texts)

    assert {"orders", "totals", "report"} == session.made
    assert {"orders", "totals", "report", "notes"} == session.bound
    assert_as_if_cold(session, shop, texts)


def test_a_reader_that_only_hands_a_retyped_column_on_is_not_bound(shop):
    write(shop, {"models/reader.sql": "SELECT o.id, o.amount FROM orders AS o WHERE o.id > 1\n"})
    session = open_session(shop)
    text = "SELECT id, CAST(amount AS DOUBLE) AS amount, note FROM raw.orders\n"
    texts: dict[str, str | None] = {"models/orders.sql": text}

    session.edit(texts)

    assert "reader" in session.bound - session.made
    assert "double" == session.snapshot.compilation.models["reader"].columns[1].type.text
    assert_as_if_cold(session, shop, texts)


@pytest.mark.parametrize(
    "reader",
    [
        "SELECT * FROM orders\n",
        "SELECT o.* EXCEPT (note) FROM orders AS o\n",
        "SELECT count(*) AS n FROM (SELECT DISTINCT * FROM orders)\n",
        "SELECT struct(*) AS s FROM orders\n",
        "SELECT n.id FROM notes AS n NATURAL JOIN orders\n",
        "TABLE orders\n",
        "FROM orders\n",
        "WITH o AS (FROM orders) SELECT 1 AS one UNION TABLE totals\n",
        "SELECT 1 AS a, 2 AS b, '' AS c UNION ALL FROM orders\n",
        "FROM orders |> WHERE id > 1\n",
        "SELECT identifier('am' || 'ount') AS x FROM orders\n",
        "SELECT AMOUNT AS x FROM orders\n",
        "SELECT `amount` AS x FROM orders\n",
        "SELECT id FROM orders PIVOT (count(1) FOR note IN ('a', 'b'))\n",
        "SELECT 2 * id AS x, id * 3 AS y, count(*) AS n FROM orders GROUP BY id\n",
        "SELECT /*+ BROADCAST(orders) */ * FROM orders\n",
        "SELECT extract(YEAR FROM DATE '2024-01-01') AS y, id FROM orders\n",
        "WITH o AS (SELECT id, amount FROM orders) SELECT o.*, o.id + 1 AS x FROM o\n",
        "WITH o AS (SELECT id, amount, note FROM orders) SELECT o.amount, note FROM o\n",
        "WITH o(a, b) AS (SELECT id, amount FROM orders) SELECT a, b + 1 AS c FROM o\n",
        "SELECT a.b + 1 AS c FROM orders AS a(x, b, y)\n",
        "SELECT b + 1 AS c FROM (orders) AS a(x, b, y)\n",
        "SELECT b + 1 AS c FROM orders VERSION AS OF 1 a(x, b, y)\n",
        "SELECT b + 1 AS c FROM default . orders a(x, b, y)\n",
        "SELECT n.id FROM notes AS n JOIN (orders) over(x, b, y) ON b = 1\n",
        "SELECT id, amount FROM orders ORDER BY 2\n",
        "SELECT amount, count(*) AS n FROM orders GROUP BY ALL\n",
        "SELECT DISTINCT amount, id FROM orders\n",
        "SELECT id, (SELECT amount FROM orders) + 1 AS x FROM notes\n",
        "SELECT 'x' amount, id FROM orders\n",
        "SELECT coalesce(note, amount, id) AS x, amount FROM orders\n",
        "SELECT l.id, r.amount FROM orders AS l LEFT JOIN orders AS r ON l.id = r.id\n",
        "SELECT amount FROM orders UNION ALL SELECT id FROM orders\n",
    ],
)
def test_however_a_reader_comes_by_a_retyped_column_it_is_as_if_compiled_cold(shop, reader):
    write(shop, {"models/reader.sql": reader})
    session = open_session(shop)
    for kind in ("DOUBLE", "STRING", "MAP<STRING, INT>", "DOUBLE"):
        value = "map('a', 1)" if kind.startswith("MAP") else f"CAST(amount AS {kind})"
        texts = {"models/orders.sql": f"SELECT id, {value} AS amount, note FROM raw.orders\n"}

        session.edit(texts)

        assert_as_if_cold(session, shop, texts)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("models/orders.sql", None),
        ("models/extra.sql", "SELECT * FROM report\n"),
        ("models/orders.toml", 'name = "other"\n'),
        ("models/orders.toml", '[target]\ntable = "totals"\n'),
        ("models/totals.contract.toml", '[[columns]]\nname = "total"\ntype = "int"\n'),
        ("contracts/totals.contract.toml", '[[columns]]\nname = "gone"\ntype = "int"\n'),
        ("macros/m.sql", "CREATE MACRO m(a) AS a + 1\n"),
        ("functions/f.sql", "CREATE FUNCTION f(a INT) RETURNS INT RETURN a + 1\n"),
        ("seeds/days.csv", "day\n2024-01-01\n"),
        ("sources/raw.toml", SHOP["sources/raw.toml"].replace("decimal(10,2)", "string")),
        ("rocky.toml", '[pipeline.shop]\nmodels = "models/**"\n[lints]\nP002 = "error"\n'),
        ("rocky.toml", "[pipeline"),
        ("models/_defaults.toml", '[target]\nschema = "elsewhere"\n'),
        ("models/deep/er/new.rocky", "from orders\nselect { id }\n"),
        ("README.md", "nothing of ours"),
    ],
)
def test_any_file_may_come_change_or_go_and_come_back(shop, path, text):
    session = open_session(shop)

    session.edit({path: text})
    assert_as_if_cold(session, shop, {path: text})

    session.drop([path])
    assert_as_if_cold(session, shop, {})


def test_models_that_come_to_read_each_other_are_a_cycle_until_they_do_not(shop):
    session = open_session(shop)
    for text in ("SELECT id, total AS amount, '' AS note FROM totals\n", "SELECT * FROM orders\n"):
        texts = {"models/orders.sql": text}

        found = session.edit(texts)

        assert "E015" in {each.code for each in found.compilation.diagnostics}
        assert_as_if_cold(session, shop, texts)
        session.edit({"models/notes.sql": SHOP["models/notes.sql"] + "\n"})
        session.drop(["models/orders.sql", "models/notes.sql"])
        assert_as_if_cold(session, shop, {})


def test_labels_in_an_edited_file_follow_its_text(shop):
    session = open_session(shop)
    texts = {"models/totals.sql": "SELECT id, sum(note > 1) AS total FROM orders GROUP BY id\n"}
    session.edit(texts)
    texts["models/orders.sql"] = "-- moved down\n" + SHOP["models/orders.sql"]

    session.edit({"models/orders.sql": texts["models/orders.sql"]})

    assert_as_if_cold(session, shop, texts)


def test_a_finding_moves_with_the_text_and_says_what_is_wrong_now(shop):
    session = open_session(shop)
    for text in (
        "SELECT nope FROM raw.orders\n",
        "\n\nSELECT nope FROM raw.orders\n",
        "SELECT nay FROM raw.orders\n",
    ):
        texts = {"models/orders.sql": text}

        session.edit(texts)

        assert_as_if_cold(session, shop, texts)


@pytest.mark.parametrize(
    "settings",
    [
        '[target]\ntable = "totals"\n',
        'name = "totals"\n',
        'depends_on = ["nothing"]\n',
        '[strategy]\ntype = "ephemeral"\n',
        '[[tests]]\ntype = "not_null"\ncolumn = "nope"\n',
        '[classification]\nid = "pii"\n',
        "nonsense = [\n",
    ],
)
def test_settings_that_change_where_they_stand_are_followed(shop, settings):
    write(shop, {"models/orders.toml": 'description = "orders"\n'})
    session = open_session(shop)
    front = {"models/notes.sql": f"---toml\n{settings}---\n{SHOP['models/notes.sql']}"}
    for texts in ({"models/orders.toml": settings}, front):
        session.edit(texts)
        assert_as_if_cold(session, shop, texts)

        session.drop(texts)
        assert_as_if_cold(session, shop, {})


def test_a_saved_file_is_read_again_and_one_with_an_unsaved_text_is_not(shop):
    session = open_session(shop)
    text = "SELECT id, note FROM raw.orders\n"

    (shop / "models/orders.sql").write_text(text)
    assert ["E003"] == codes(session.refresh(["models/orders.sql"]), "models/totals.sql")

    session.edit({"models/orders.sql": SHOP["models/orders.sql"]})
    (shop / "models/orders.sql").write_text("SELECT (\n")
    assert [] == codes(session.refresh(["models/orders.sql"]), "models/totals.sql")


def test_a_folder_with_a_dot_in_its_name_that_comes_or_goes_is_followed(shop):
    write(shop, {"models/v1.2/extra.sql": "SELECT 1 AS one\n"})
    session = open_session(shop)
    (shop / "models/v1.2").rename(shop / "away")
    assert "extra" not in session.refresh(["models/v1.2"]).project.models

    (shop / "away").rename(shop / "models/v1.3")
    assert "extra" in session.refresh(["models/v1.3"]).project.models


def test_a_project_that_is_loaded_again_and_again_does_not_pile_up(shop):
    session = open_session(shop)
    session.reload()
    frozen = gc.get_freeze_count()
    for _ in range(5):
        session.reload()

    assert gc.get_freeze_count() < 1.6 * frozen


@pytest.mark.parametrize("name", ["shop.json", "shop.baseline.json"])
@pytest.mark.parametrize("gone", [True, False])
def test_an_interface_that_nobody_saved_or_deleted_yet_is_as_the_editor_has_it(
    tmp_path, name, gone
):
    root = tmp_path / "shop"
    shutil.copytree(CASES / "diagnostics/W012-import-not-accepted/quiet-when-accepted", root)
    path = f"imports/{name}"
    text = None if gone else (root / path).read_text()
    if not gone:
        (root / path).unlink()
    session = open_session(root)

    session.edit({path: text})

    assert_as_if_cold(session, root, {path: text})


def test_a_project_whose_settings_are_gone_is_told_and_recovers(shop):
    session = open_session(shop)
    with pytest.raises(ProjectNotFound):
        session.edit({"rocky.toml": None})

    found = session.edit({"rocky.toml": SHOP["rocky.toml"]})

    assert found.settled
    assert_as_if_cold(session, shop, {})


def test_no_cache_is_written_of_texts_that_nobody_saved(shop, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    session = Session(shop, lambda: load_project(shop, env={}, remember=True))
    session.reload()
    before = {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*.bin")}
    assert before

    session.edit({"models/orders.sql": "SELECT 1 AS id\n", "models/new.sql": "SELECT 2 AS two\n"})
    session.edit({"rocky.toml": SHOP["rocky.toml"] + "\n"})

    assert before == {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*.bin")}


def test_a_snapshot_stays_as_it_was(shop):
    session = open_session(shop)
    first = session.snapshot
    before = said(first.compilation), dict(first.findings), dict(first.project.models)

    session.edit({"models/orders.sql": "SELECT nope FROM raw.orders\n"})

    assert before == (said(first.compilation), dict(first.findings), dict(first.project.models))
    assert SHOP["models/orders.sql"] == first.project.texts["models/orders.sql"].text
    assert (
        "SELECT nope FROM raw.orders\n" == session.snapshot.project.texts["models/orders.sql"].text
    )


def burst(session: Session, root: Path, random: Random, texts: dict[str, str | None]) -> None:
    """Type into a file for a while; now and then something is saved away, closed or opened."""
    paths = sorted({*editable(root), *texts})
    path = random.choice(paths)
    if path in texts and random.random() < 0.25:
        del texts[path]
        session.drop([path])
        return
    if random.random() < 0.05:
        texts[path] = None
        session.edit({path: None})
        return
    text = texts.get(path)
    if text is None:
        file = root / path
        text = file.read_bytes().decode(errors="replace") if file.exists() else ""
    for _ in range(random.randint(1, 4)):
        text = mutate(text, random)
        session.edit({path: text}, lambda: random.random() < 0.3)
    texts[path] = text


def type_for_a_while(root: Path, random: Random, bursts: int) -> None:
    session = open_session(root)
    texts: dict[str, str | None] = {}
    for _ in range(bursts):
        try:
            burst(session, root, random, texts)
            session.settle()
        except ProjectNotFound:
            texts["rocky.toml"] = (root / "rocky.toml").read_text()
            session.edit({"rocky.toml": texts["rocky.toml"]})
        assert_as_if_cold(session, root, texts)


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS[::4], ids=lambda each: each.name)
def test_after_any_typing_a_case_says_what_a_cold_compile_says(folder, tmp_path, request):
    root = tmp_path / "project"
    for layer in (CASES / "shop", folder):
        shutil.copytree(layer, root, dirs_exist_ok=True)
    seed = request.config.getoption("--sample")

    type_for_a_while(root, Random(f"{seed} {folder}"), 4)


GOVERNED = {
    **SHOP,
    "rocky.toml": """[pipeline.shop]
models = "models/**"

[mask]
pii = "redact"

[mask.dev]
pii = "none"

[classifications]
small_groups = 5

[governance]
enforce = "twin"
restricted_schema = "restricted"
""",
    "sources/raw.toml": SHOP["sources/raw.toml"].replace(
        'name = "note", type = "string"', 'name = "note", type = "string", classification = "pii"'
    ),
    "models/totals.toml": '[classification]\ntotal = "secret"\n',
    "models/everything.sql": "SELECT * FROM notes\n",
}
"""A shop with tags, masks and masked twins of its tables."""


def governed(root: Path) -> None:
    write(root, GOVERNED)


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize("make", [create_playground, governed], ids=["playground", "governed"])
@pytest.mark.parametrize("seed", range(2))
def test_after_any_typing_a_real_project_says_what_a_cold_compile_says(
    make, seed, tmp_path, request
):
    make(tmp_path / "project")
    drawn = request.config.getoption("--sample")

    type_for_a_while(tmp_path / "project", Random(f"{drawn} {seed} {make.__name__}"), 5)


@pytest.mark.exhaustive
@pytest.mark.parametrize("make", [create_playground, governed], ids=["playground", "governed"])
@pytest.mark.parametrize("seed", range(20))
def test_after_long_typing_a_real_project_says_what_a_cold_compile_says(make, seed, tmp_path):
    make(tmp_path / "project")

    type_for_a_while(tmp_path / "project", Random(f"{seed} {make.__name__}"), 15)


def test_a_governed_shop_has_masks_and_twins(tmp_path):
    governed(tmp_path)
    compilation = open_session(tmp_path).snapshot.compilation

    assert {"W004"} == {each.code.value for each in compilation.diagnostics}
    assert {"notes", "notes__masked"} <= set(compilation.project.models)


def test_an_attempt_says_what_a_compile_would_and_leaves_the_session_as_it_was(shop):
    session = open_session(shop)
    unsaved = {"models/notes.sql": SHOP["models/notes.sql"] + "-- unsaved\n"}
    session.edit(unsaved)
    for texts in (
        {"models/orders.sql": "SELECT id, note FROM raw.orders\n"},
        {"models/orders.sql": None, "models/other.sql": SHOP["models/orders.sql"]},
        {"models/notes.sql": "SELECT (\n"},
    ):
        found = session.attempt(texts)

        after = cold(shop, {**unsaved, **texts}, shop.parent / "tried")
        assert {} == differences(said(after), said(found))
        assert_as_if_cold(session, shop, unsaved)

    with pytest.raises(ProjectNotFound):
        session.attempt({"rocky.toml": None})
    assert_as_if_cold(session, shop, unsaved)


def test_an_attempt_that_is_cut_short_leaves_the_session_as_it_was(shop):
    session = open_session(shop)
    asked = iter([False, True, True])

    with pytest.raises(Superseded):
        session.attempt(
            {"models/orders.sql": "SELECT id, note FROM raw.orders\n"}, lambda: next(asked, True)
        )

    session.settle()
    assert_as_if_cold(session, shop, {})


def test_readers_that_somebody_looks_at_come_first(shop):
    write(shop, {f"models/other_{n}.sql": "SELECT amount FROM orders\n" for n in range(5)})
    session = open_session(shop)
    texts = {"models/orders.sql": "SELECT id, note FROM raw.orders\n"}
    session.edit(texts, lambda: True)
    left = iter([False, False, False])

    found = session.settle(lambda: next(left, True), ["models/report.sql"])

    assert not found.settled
    assert {"totals", "notes", "report"} == session.bound
    session.settle()
    assert_as_if_cold(session, shop, texts)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda each: each.name)
def test_after_long_typing_a_case_says_what_a_cold_compile_says(folder, seed, tmp_path):
    root = tmp_path / "project"
    for layer in (CASES / "shop", folder):
        shutil.copytree(layer, root, dirs_exist_ok=True)

    type_for_a_while(root, Random(f"{seed} {folder}"), 12)
