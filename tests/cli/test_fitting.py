import pytest

from rocky.cli.render.tables import Room, describe_dropped, elide, render_fitted

HEAD = ("RUN", "ROWS", "WHY")
ROWS = [("run-1", "1,234", "the file was there before and is not there now"), ("run-2", "5", "-")]


def fitted(width, **giving_way):
    return render_fitted(HEAD, ROWS, {1}, Room(width, **giving_way))


def test_what_is_piped_loses_nothing():
    table = fitted(None, expendable=("ROWS",), elastic="WHY")

    assert ((), "run-1  1,234  the file was there before and is not there now") == (
        table.dropped,
        table.text.splitlines()[1],
    )


def test_the_elastic_column_gives_way_before_another_goes():
    table = fitted(40, expendable=("ROWS",), elastic="WHY")

    assert () == table.dropped
    assert "run-1  1,234  the file was there befo..." == table.text.splitlines()[1]


def test_columns_go_in_their_order_until_the_rest_fits():
    table = fitted(24, expendable=("ROWS", "WHY"), elastic="WHY")

    assert ("ROWS",) == table.dropped
    assert "run-1  the file was t..." == table.text.splitlines()[1]


def test_a_column_that_may_not_go_stays_whatever_the_width():
    table = fitted(10, expendable=("ROWS",))

    assert ["RUN", "WHY"] == table.text.splitlines()[0].split()


def test_numbers_stay_on_the_right_when_a_column_before_them_goes():
    table = fitted(8, expendable=("RUN", "WHY"))

    assert [" ROWS", "1,234", "    5"] == table.text.splitlines()


@pytest.mark.parametrize(
    ("width", "shown"), [(20, "stg_orders_daily"), (16, "stg_orders_daily"), (9, "stg_…aily")]
)
def test_a_long_name_loses_its_middle(width, shown):
    assert shown == elide("stg_orders_daily", width)


def test_where_only_ascii_is_shown_the_gap_is_three_dots():
    assert "stg_...ily" == elide("stg_orders_daily", 10, blocks=False)


def test_what_is_left_out_is_named():
    assert "too narrow for SQL, USD: a wider terminal or `-o json` shows them" == describe_dropped(
        ["SQL", "USD"]
    )
