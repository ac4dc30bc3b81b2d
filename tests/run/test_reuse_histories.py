"""Whatever was edited, reverted, damaged and run before, a run leaves what a first one would."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocky.run.prepare.resources import RunParameters
from tests.evidence.shops import verify
from tests.run.runs import Shop, statuses
from tests.table_files import data_files

VARIANTS = {
    "data/orders.csv": (
        "id,country\n1,DE\n2,DE\n3,FR\n",
        "id,country\n3,FR\n2,DE\n1,DE\n",
        "id,country\n1,DE\n2,FR\n4,FR\n",
    ),
    "seeds/countries.csv": ("code,label\nDE,Germany\nFR,France\n", "code,label\nDE,Gotham\n"),
    "models/stg_orders.sql": (
        "SELECT id, country, upper(country) AS loud FROM raw.orders",
        "SELECT id, country, lower(country) AS loud FROM raw.orders",
        "SELECT id, country, upper(country) AS loud FROM raw.orders WHERE 0 < id AND 1 < 2",
        "SELECT id, loud AS country, country AS loud FROM (SELECT id, country, 'DE' AS loud "
        "FROM raw.orders)",
    ),
    "models/large.sql": (
        "SELECT id, country FROM stg_orders WHERE id > 1",
        "SELECT id, country FROM stg_orders WHERE id > 2",
    ),
    "models/ids.sql": (
        "SELECT id FROM stg_orders",
        "-- the same\nSELECT  id\nFROM stg_orders",
        "SELECT id FROM stg_orders WHERE country = 'DE'",
    ),
    "models/counted.sql": ("SELECT count(*) AS n FROM stg_orders",),
    "models/loudest.sql": ("SELECT max(loud) AS most, count(*) AS n FROM stg_orders",),
    "models/alone.toml": ("", '[format_options]\ncluster_by = ["one"]\n'),
}
TABLES = ("stg_orders", "by_country", "report", "ids", "counted", "loudest", "alone")
State = dict[str, int]
_EXPECTED: dict[tuple[int, ...], dict[str, object]] = {}

edits = st.sampled_from(
    [(name, at) for name, texts in VARIANTS.items() for at in range(len(texts))]
)
events = st.one_of(
    edits,
    st.tuples(st.just("damage"), st.integers(0, len(TABLES) - 1)),
    st.tuples(st.just("empty"), st.integers(0, len(TABLES) - 1)),
    st.tuples(st.just("compression"), st.integers(0, 1)),
    st.tuples(st.just("run"), st.integers(0, len(TABLES) - 1)),
)


def files_of(state: State) -> dict[str, str]:
    return {name: VARIANTS[name][at] for name, at in state.items()}


def expected(state: State) -> dict[str, object]:
    """What a first run over the same files leaves."""
    key = tuple(state.values())
    if key not in _EXPECTED:
        with TemporaryDirectory() as folder:
            shop = Shop(Path(folder), files_of(state))
            shop.run(options=RunParameters(parallel=1, rebuild=True))
            _EXPECTED[key] = {table: shop.rows(table) for table in TABLES}
    return _EXPECTED[key]


def happen(shop: Shop, state: State, name: str, at: int) -> None:
    if name in VARIANTS:
        state[name] = at
        shop.write(name, VARIANTS[name][at])
    elif name == "damage":
        for file in data_files(shop.folder(TABLES[at])):
            file.write_bytes(file.read_bytes()[:-1])
    elif name == "empty":
        snapshot = shop.snapshot(TABLES[at])
        log = shop.folder(TABLES[at]) / "_delta_log" / f"{snapshot.version + 1:020}.json"
        removes = (
            f'{{"remove":{{"path":"{file.path}","dataChange":true,"deletionTimestamp":1}}}}\n'
            for file in snapshot.files
        )
        log.write_text('{"commitInfo":{"operation":"DELETE"}}\n' + "".join(removes))
    elif name == "compression":
        shop.compression = ("snappy", "gzip")[at]
    elif name == "run":
        shop.run(f"+{TABLES[at]}")


@pytest.mark.slow
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(st.lists(events, min_size=1, max_size=3), st.integers(0, 2)),
        min_size=1,
        max_size=5,
    )
)
def test_a_run_leaves_what_a_first_one_would(history):
    state = dict.fromkeys(VARIANTS, 0)
    with TemporaryDirectory() as folder:
        shop = Shop(Path(folder), files_of(state))
        shop.run()
        for happened, idle in history:
            for name, at in happened:
                happen(shop, state, name, at)
            report = shop.run()
            assert not {"failed", "skipped"} & set(statuses(report).values())
            assert expected(state) == {table: shop.rows(table) for table in TABLES}
            # What these remember must not hide what happens next.
            for _ in range(idle):
                shop.run()
        if not {"damage", "empty"} & {name for happened, _ in history for name, _ in happened}:
            assert () == verify(shop.root).findings
