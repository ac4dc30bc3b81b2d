import pytest

from rocky.cli.console import ExitCode
from rocky.cli.render.listing import shorten_path, shorten_text

FILES = {
    "models/a.sql": "SELECT order_id, amount FROM raw.orders\n",
    "models/b.sql": "SELECT a.order_id FROM a JOIN codes ON codes.code = a.order_id\n",
    "seeds/codes.csv": "code,label\n1,one\n",
}


def test_everything_is_listed_with_its_neighbours(rocky, write):
    write(FILES)
    document = rocky("list").json
    counts = {
        each["name"]: (each["kind"], each["columns"], each["upstream"], each["downstream"])
        for kind in ("models", "sources", "seeds")
        for each in document[kind]
    }

    assert {
        "a": ("model", 2, 1, 1),
        "b": ("model", 1, 2, 0),
        "raw.orders": ("source", 3, 0, 1),
        "codes": ("seed", 2, 0, 1),
    } == counts


def test_a_kind_lists_only_that(rocky, write):
    write(FILES)

    assert {"version", "command", "seeds"} == set(rocky("list", "seeds").json)
    assert ExitCode.FAILED == rocky("list", "tables").code


def test_the_table_has_a_row_each(rocky, write):
    write(FILES)
    rows = [line.split() for line in rocky("list", "-o", "table").out.splitlines()]

    assert ["NAME", "KIND", "STRATEGY", "COLUMNS", "UPSTREAM", "DOWNSTREAM", "FILE"] == rows[0]
    assert ["a", "model", "full_refresh", "2", "1", "1", "models/a.sql"] in rows


def test_a_project_with_errors_is_listed_and_the_errors_are_mentioned(rocky, write):
    write({**FILES, "models/c.sql": "SELECT nope FROM a\n"})
    answer = rocky("list", "-o", "table")

    assert ExitCode.OK == answer.code
    assert "note: 1 error in the project; `rocky compile` shows them\n" == answer.err


def test_what_a_source_or_a_seed_is_about_is_said_as_it_is_written(rocky, write, monkeypatch):
    monkeypatch.setenv("ABOUT", "a secret")
    write({**FILES, "seeds/codes.toml": 'description = "codes of ${ABOUT}"\n'})
    (seed,) = rocky("list", "seeds").json["seeds"]
    (source,) = rocky("list", "sources").json["sources"]

    assert "codes of ${ABOUT}" == seed["description"]
    assert "description" not in source


DESCRIBED = {
    **FILES,
    "rocky.toml": """[pipeline.shop]
type = "transformation"
models = "models/**"
description = "what the shop sold"
owner = "platform"
meta = { tier = 1 }
""",
    "models/_defaults.toml": 'owner = "sales"\ntags = { layer = "mart" }\nmeta = { pager = "x" }\n',
    "models/a.toml": """description = "orders, one row each"
tags = ["nightly", "pii"]
meta = { since = 2026-05-30, ratio = nan, links = ["https://wiki"] }
[columns.order_id]
description = "the order"
""",
    "models/b.toml": 'owner = "Growth"\nintent = "what is asked of codes"\n',
    "models/a.contract.toml": """[[columns]]
name = "amount"
description = "net of VAT"
[[columns]]
name = "order_id"
description = "not this one"
""",
    "sources/raw.toml": """[[source]]
name = "raw.orders"
description = "orders as they come"
owner = "crm"
tags = ["pii"]
meta = { sla = "1h" }
columns = [
  { name = "order_id", type = "bigint", description = "given by the shop" },
  { name = "amount", type = "decimal(12,2)" },
]
""",
    "seeds/codes.toml": """description = "codes of orders"
owner = "sales"
tags = ["manual"]
meta = { source = "a spreadsheet" }
columns = [{ name = "label", type = "string", description = "for people" }]
""",
}


def named(document):
    return {
        each["name"]: each for kind in document.values() if isinstance(kind, list) for each in kind
    }


def test_what_is_said_of_everything_is_in_the_document(rocky, write):
    write(DESCRIBED)
    found = named(rocky("list").json)

    said = ("description", "owner", "tags", "meta", "column_descriptions")
    assert {
        "a": (
            "orders, one row each",
            "sales",
            {"layer": "mart", "nightly": "true", "pii": "true"},
            {"pager": "x", "since": "2026-05-30", "ratio": "nan", "links": ["https://wiki"]},
            {"order_id": "the order", "amount": "net of VAT"},
        ),
        "b": ("what is asked of codes", "Growth", {"layer": "mart"}, {"pager": "x"}, None),
        "raw.orders": (
            "orders as they come",
            "crm",
            {"pii": "true"},
            {"sla": "1h"},
            {"order_id": "given by the shop"},
        ),
        "codes": (
            "codes of orders",
            "sales",
            {"manual": "true"},
            {"source": "a spreadsheet"},
            {"label": "for people"},
        ),
    } == {name: tuple(each.get(key) for key in said) for name, each in found.items()}


def test_pipelines_are_listed_with_what_is_said_of_them(rocky, write):
    write(DESCRIBED)
    (found,) = rocky("list", "pipelines").json["pipelines"]

    assert {
        "name": "shop",
        "kind": "pipeline",
        "type": "transformation",
        "models": 2,
        "depends_on": [],
        "description": "what the shop sold",
        "owner": "platform",
        "meta": {"tier": 1},
    } == found
    assert "shop  transformation" in rocky("list", "pipelines", "-o", "table").out
    refused = rocky("list", "pipelines", "tag:x", "-o", "table")
    assert "selectors choose models, sources and seeds" in refused.err


def test_a_pipeline_owns_models_that_nobody_else_does(rocky, write):
    write({**DESCRIBED, "models/_defaults.toml": ""})

    assert "platform" == named(rocky("list", "models").json)["a"]["owner"]


@pytest.mark.parametrize(
    ("selectors", "names"),
    [
        (("tag:pii",), {"a", "raw.orders"}),
        (("tag:nightly",), {"a"}),
        (("tag:nightly=true",), {"a"}),
        (("owner:SALES",), {"a", "codes"}),
        (("owner:gr*",), {"b"}),
        (("+b",), {"a", "b", "raw.orders", "codes"}),
        (("codes+",), {"codes", "b"}),
        (("raw.*",), {"raw.orders"}),
        (("path:seeds", "a"), {"codes", "a"}),
        (("source:raw.orders",), {"raw.orders"}),
        (("owner:sales,tag:pii",), {"a"}),
        (("models", "+b"), {"a", "b"}),
        (("sources", "tag:pii"), {"raw.orders"}),
        (("name:models*", "b"), None),
    ],
)
def test_selectors_choose_what_is_listed(rocky, write, selectors, names):
    write(DESCRIBED)
    answer = rocky("list", *selectors)

    assert names == (set(named(answer.json)) if answer.code == ExitCode.OK else None)


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ('tags = "nightly"', "`tags` must be a list such as"),
        ('tags = ["a", ""]', "a tag must not be empty"),
        ("tags = [1]", "item 1 of `tags` must be a text"),
        ("tags = { a = 1 }", "`a` must be a text"),
    ],
)
def test_tags_of_another_form_are_refused(rocky, write, tags, message):
    write({**FILES, "models/a.toml": tags})

    assert message in rocky("validate", "-o", "table").out


def test_a_narrow_terminal_gets_whole_words_and_short_paths(rocky, write, monkeypatch):
    long = "every order of the shop with its amount net of VAT, one row for each, as booked"
    files = {
        **DESCRIBED,
        "models/a.toml": f'description = "{long}"',
        "models/marts/finance/closed/quarterly_revenue.sql": "SELECT order_id FROM a\n",
    }
    write(files)
    monkeypatch.setenv("COLUMNS", "80")
    narrow = rocky("list", "-o", "table")
    monkeypatch.delenv("COLUMNS")
    wide = rocky("list", "-o", "table").out

    assert long in wide
    assert max(map(len, narrow.out.splitlines())) <= 80
    assert "every order of ..." in narrow.out
    assert "too narrow for UPSTREAM" in narrow.err
    assert "models/marts/finance/closed/quarterly_revenue.sql" in wide


@pytest.mark.parametrize(
    ("path", "width", "short"),
    [
        ("models/marts/finance/orders.sql", 40, "models/marts/finance/orders.sql"),
        ("models/marts/finance/orders.sql", 30, "models/.../finance/orders.sql"),
        ("models/marts/finance/orders.sql", 21, "models/.../orders.sql"),
        ("models/marts/finance/orders.sql", 16, ".../orders.sql"),
        ("models/marts/finance/orders.sql", 10, "orders.sql"),
        ("models/a_very_long_name_of_a_model.sql", 16, "a_very_...el.sql"),
    ],
)
def test_a_path_loses_folders_before_its_name(path, width, short):
    assert short == shorten_path(path, width)


def test_a_text_ends_after_a_whole_word():
    assert "one two ..." == shorten_text("one two three", 12)
    assert "one two three" == shorten_text("one two three", 13)
    assert "abcd...wxyz" == shorten_text("abcdefghijklmnopqrstuvwxyz", 11)


def test_a_secret_in_a_label_is_shown_as_it_is_written(rocky, write, monkeypatch):
    monkeypatch.setenv("ABOUT", "a-secret")
    sidecar = 'owner = "${ABOUT}"\nmeta = { deep = ["${ABOUT}"] }\ntags = ["${ABOUT}"]\n'
    write({**FILES, "models/a.toml": f'description = "of ${{ABOUT}}"\n{sidecar}'})

    assert "a-secret" not in rocky("list").out + rocky("list", "-o", "table").out
    assert "${ABOUT}" == named(rocky("list", "models").json)["a"]["owner"]


def test_a_description_wins_over_an_intent(rocky, write):
    write({**FILES, "models/a.toml": 'intent = "for the board"\ndescription = "orders"\n'})

    assert "orders" == named(rocky("list", "models").json)["a"]["description"]


def test_tables_of_other_projects_come_with_what_those_say_of_them(rocky, write):
    root = write(
        {**DESCRIBED, "rocky.toml": DESCRIBED["rocky.toml"] + "\n[publish]\nname = 'up'\n"}
    )
    rocky("publish", "a", "-o", "table")
    interface = (root / "interface.json").read_text()
    (root / "models/b.sql").write_text("SELECT 1 AS one\n")
    settings = DESCRIBED["rocky.toml"] + '\n[imports.up]\npath = "interface.json"\n'
    write(
        {
            "rocky.toml": settings,
            "imports/up.json": interface,
            "models/a.toml": '[target]\nschema = "own"\n',
        }
    )
    found = next(
        each for each in rocky("list", "sources").json["sources"] if each["kind"] == "import"
    )

    assert (
        "orders, one row each",
        {"layer": "mart", "nightly": "true", "pii": "true"},
        {"order_id": "the order", "amount": "net of VAT"},
    ) == tuple(found[key] for key in ("description", "tags", "column_descriptions"))


def test_functions_are_listed_with_what_they_take_and_who_calls_them(rocky, write):
    write(
        {
            **FILES,
            "functions/net.sql": (
                "CREATE FUNCTION net(amount DECIMAL(12,2), rate DOUBLE DEFAULT 0.19)\n"
                "RETURNS DECIMAL(12,2) COMMENT 'without tax' RETURN amount / (1 + rate)\n"
            ),
            "models/a.sql": "SELECT order_id, net(amount) AS amount FROM raw.orders\n",
        }
    )
    (found,) = rocky("list", "functions").json["functions"]

    assert {
        "name": "net",
        "kind": "function",
        "type": "sql",
        "path": "functions/net.sql",
        "signature": "net(amount decimal(12,2), rate double = ...) -> decimal(12,2)",
        "gives_rows": False,
        "aggregate": False,
        "called_by": ["a"],
        "deterministic": None,
        "description": "without tax",
        "owner": None,
    } == {"deterministic": None, "owner": None, **found}
    assert "without tax" in rocky("list", "functions", "-o", "table").out
    refused = rocky("list", "functions", "tag:x", "-o", "table")
    assert "selectors choose models, sources and seeds, not functions" in refused.err
