"""`rocky verify --since`: after a run, a seal or a moment, and what it says of the rest."""

import json

import pytest

from tests.seals.test_attacks import put_back

pytestmark = pytest.mark.slow


def reported(shop, *arguments: str) -> dict:
    return json.loads(shop.rocky("verify", "-o", "json", *arguments).out)


@pytest.fixture
def later(shop):
    """A shop that ran once more after its seal."""
    shop.run()
    return shop


@pytest.mark.parametrize(
    ("kind", "since"), [("seal", "seal"), ("seal", None), ("run", None), ("moment", "1w")]
)
def test_what_was_left_out_is_said(later, kind, since):
    oldest = json.loads(later.rocky("history", "-o", "json").out)["runs"][-1]["run_id"]
    since = since or (later.first.name if kind == "seal" else oldest)
    found = reported(later, "--sealed", "seals", "--since", since)
    earlier = 0 if kind == "moment" else 1

    assert (True, kind, earlier) == (
        found["verified"],
        found["since"]["kind"],
        found["since"]["earlier_runs"],
    )
    assert 2 - earlier == found["checked"]["runs"]
    assert [True] == [
        f"{earlier} earlier run" in note for note in found["notes"] if note.startswith("since ")
    ]


def test_runs_whose_records_were_not_looked_at_are_counted_and_said(shop):
    for _ in range(3):
        shop.run()
    shop.seal()
    shop.run()
    newest = json.loads(shop.rocky("history", "-o", "json").out)["runs"][0]["run_id"]
    late = reported(shop, "--sealed", "seals", "--since", "seal")
    every = reported(shop, "--sealed", "seals", "--since", newest)

    assert (True, True) == (late["verified"], every["verified"])
    assert (4, 0) == (late["since"]["earlier_runs"], every["since"]["unseen_runs"])
    assert 0 < late["since"]["unseen_runs"] < 4
    assert late["checked"]["entries"] == every["checked"]["entries"]
    assert late["checked"]["records"] < every["checked"]["records"]
    said = [" ".join(each["notes"]) for each in (late, every)]
    unseen = late["since"]["unseen_runs"]
    assert f"the records of {unseen} earlier run" in said[0]
    assert "that found everything as it was were not looked at" in said[0]
    assert "`rocky verify` without `--since` does all of that" in said[0]
    assert "not looked at" not in said[1]


def test_a_ledger_that_does_not_go_on_from_the_seal_fails_and_nothing_is_left_out(shop):
    with put_back(shop):
        shop.run()
        shop.seal()
    shop.run(rows=7)
    newest = shop.seals[-1].name
    found = reported(shop, "--sealed", "seals", "--since", newest)

    assert (False, None) == (found["verified"], found.get("since"))
    assert "seal_head_missing" in {each["code"] for each in found["findings"]}
    assert found["checked"]["runs"] == 2
    assert any("nothing was left out" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--since", "seal"], "needs seals: name where they are with `--sealed`"),
        (["--since", "nonsense"], "no run and no seal `nonsense` is known"),
        (["latest", "--since", "1d"], "`since` has nothing to leave out"),
    ],
)
def test_a_point_that_is_none_is_refused(shop, arguments, said):
    answer = shop.rocky("verify", *arguments)

    assert 1 == answer.code
    assert said in answer.err
