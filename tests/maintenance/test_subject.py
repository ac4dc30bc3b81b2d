"""The condition of an erasure: one form, read by its own grammar, and never repeated."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from rocky.errors import InvalidRequest
from rocky.maintenance.erasure.subject import Subject, new_receipt, parse_subject

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "column", "values"),
    [
        ("customer_id = 42", "customer_id", (42,)),
        ("  `customer id`=-7 ", "customer id", (-7,)),
        ("email = 'O''Neil@example.org'", "email", ("O'Neil@example.org",)),
        ("id IN (1, 2,2)", "id", (1, 2)),
        ("id in ('a','b')", "id", ("a", "b")),
        ("amount = 12.50", "amount", (Decimal("12.50"),)),
        ("born = DATE '1984-05-06'", "born", (date(1984, 5, 6),)),
        ("at = TIMESTAMP '2026-01-31T12:00:00Z'", "at", (NOON,)),
        ("at = timestamp '2026-01-31 13:00:00.000+01:00'", "at", (NOON,)),
        ("at = TIMESTAMP '2026-01-31 12:00:00'", "at", (NOON.replace(tzinfo=None),)),
    ],
)
def test_a_key_and_its_values_are_read(text, column, values):
    assert Subject(column, values) == parse_subject(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "customer_id",
        "customer_id > 42",
        "customer_id != 42",
        "customer_id = 42 OR 1 = 1",
        "customer_id = 42; DROP TABLE customers",
        "customer_id = 42 -- all",
        "customer_id = 42 /* all */",
        "customer_id = (SELECT max(customer_id) FROM customers)",
        "customer_id = rand()",
        "customer_id = current_date()",
        "customer_id = other_column",
        "customer_id = NULL",
        "customer_id = 4 2",
        "customer_id = 42abc",
        "customer_id = '42' OR '1'='1'",
        "email = 'a\\' OR 1=1 --'",
        "email = 'a",
        "email LIKE 'a%'",
        "lower(email) = 'secret'",
        "customers.customer_id = 42",
        "id IN ()",
        "id IN (1, 'a')",
        "id IN (1, 2",
        "42 = customer_id",
        "born = DATE '1984-13-06'",
        "at = TIMESTAMP '2026-01-31'",
        "at = TIMESTAMP '2026-13-31T12:00:00Z'",
        "at = TIMESTAMP '0001-01-01T00:00:00+14:00'",
        "at = TIMESTAMP 'now'",
        "at IN (TIMESTAMP '2026-01-31T12:00:00Z', DATE '2026-01-31')",
    ],
)
def test_whatever_is_no_key_with_values_is_refused_without_repeating_it(text):
    with pytest.raises(InvalidRequest, match="--where") as refused:
        parse_subject(text)

    said = str(refused.value).partition("; ")[2]
    for secret in ("1 = 1", "DROP", "secret", "42abc", "4 2"):
        assert secret not in said


def test_the_values_are_not_in_its_representation():
    assert "42" not in repr(parse_subject("customer_id = 42"))


def test_the_fingerprint_depends_on_column_values_and_key_and_on_nothing_else():
    receipt = new_receipt()
    first = parse_subject("id IN (1, 2)").fingerprint(receipt)

    assert first == parse_subject("ID in (2,1)").fingerprint(receipt)
    assert first != parse_subject("id IN (1, 3)").fingerprint(receipt)
    assert first != parse_subject("other IN (1, 2)").fingerprint(receipt)
    assert first != parse_subject("id IN (1, 2)").fingerprint(new_receipt())
    assert parse_subject("id = 1").fingerprint(receipt) != parse_subject("id = '1'").fingerprint(
        receipt
    )
