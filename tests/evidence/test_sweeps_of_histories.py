"""Whatever happened before a sweep, and whatever it was told to keep, the evidence stays whole."""

import logging
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from rocky.evidence.retention.ledger_facts import leave_anchors
from rocky.evidence.retention.sweep import sweep_ledger
from rocky.ledger import open_ledger
from rocky.project.configuration.blocks import StateRetention
from rocky.run.execute.runner import RunParameters
from rocky.run.materialize.strategy import materialize
from rocky.store.warehouse import open_warehouse
from tests.evidence.shops import STATE, audit, codes, script_codes, verify, write_orders
from tests.run.runs import Shop

STEPS = 9


class GoneAway(BaseException):
    """What ends a run in the middle of a model."""


def run_all(shop: Shop, chance: Random) -> None:
    shop.run()


def run_one(shop: Shop, chance: Random) -> None:
    shop.run(chance.choice(["stg_orders", "alone", "by_country", "+report"]))


def change_source(shop: Shop, chance: Random) -> None:
    write_orders(shop.root, chance.randrange(1, 6))


def break_model(shop: Shop, chance: Random) -> None:
    """A run in which a model fails before it commits anything."""

    def fail(name: str) -> None:
        raise OSError(f"no more room for {name}")

    write_orders(shop.root, 7)
    shop.run("stg_orders", before_write=fail)


def die_after_commit(shop: Shop, chance: Random) -> None:
    """A run that goes away when its table has a commit that it has not recorded."""

    def build(*arguments):
        materialize(*arguments)
        raise GoneAway

    with pytest.raises(GoneAway):
        shop.run("alone", options=RunParameters(parallel=1, full_refresh=True), build_table=build)


def refresh(shop: Shop, chance: Random) -> None:
    shop.run("+report", options=RunParameters(parallel=1, full_refresh=True))


def pass_time(shop: Shop, chance: Random) -> None:
    shop._now += timedelta(days=chance.randrange(1, 40))


def sweep(shop: Shop, chance: Random) -> None:
    rules = StateRetention(
        max_age_days=chance.choice([0, 5, 30]),
        min_runs_kept=chance.choice([0, 1, 2]),
        applies_to=chance.choice([("history", "lineage", "audit"), ("history", "lineage"), ()]),
    )
    warehouses = [open_warehouse("warehouse", base=shop.root)] if chance.random() < 0.7 else []
    shop._now += timedelta(seconds=1)
    with open_ledger(shop.root / STATE) as ledger:
        sweep_ledger(ledger, warehouses, rules, shop._now)
        leave_anchors(ledger, lambda place: open_warehouse(place, base=shop.root), shop._now)


EVENTS: list[Callable[[Shop, Random], None]] = [
    run_all, run_all, run_one, change_source, break_model, die_after_commit, refresh, pass_time,
    pass_time, sweep, sweep,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_found_after_a_sweep_whatever_came_before(tmp_path: Path, seed, caplog):
    caplog.set_level(logging.ERROR)
    chance = Random(seed)
    shop = Shop(tmp_path)
    shop.run()
    told = []
    for _ in range(STEPS):
        event = chance.choice(EVENTS)
        told.append(event.__name__)
        event(shop, chance)
    sweep(shop, chance)

    assert (told, [], []) == (
        told,
        codes(verify(tmp_path).findings),
        script_codes(audit(tmp_path)),
    )
    shop.run()
    assert (told, [], []) == (
        told,
        codes(verify(tmp_path).findings),
        script_codes(audit(tmp_path)),
    )
