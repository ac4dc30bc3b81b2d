"""The order of encodings in a footer: the same rows have the same bytes, whichever process wrote."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from rocky.store.parquet.digest import LocalHasher, footer_span, order_encodings

# What a column of Arrow's has: PLAIN, RLE, RLE_DICTIONARY as a Thrift list of three, in that order.
ASCENDING = bytes([0x35, 0, 6, 16])
SHUFFLED = bytes([0x35, 16, 0, 6])


def written() -> bytes:
    """A file whose values look like lists of encodings, to be taken for nothing else."""
    trap = SHUFFLED.decode("latin-1")
    table = pa.table({"a": [1, None, 3], "b": [trap, "x", None], "c": [[1.5], [], None]})
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=2)
    return file.getvalue()


def footer_of(data: bytes) -> bytes:
    start, length = footer_span(len(data), data[-8:])
    return data[start : start + length]


def shuffled(footer: bytes) -> bytes:
    """The footer as another process may have written it."""
    assert 6 == footer.count(b"\x19" + ASCENDING)
    return footer.replace(b"\x19" + ASCENDING, b"\x19" + SHUFFLED)


def test_only_the_order_of_encodings_changes():
    footer = footer_of(written())

    assert footer == order_encodings(footer)
    assert footer == order_encodings(shuffled(footer))


def test_a_file_is_put_in_order_before_it_is_named(tmp_path):
    data = written()
    path = tmp_path / "part-0.parquet"
    path.write_bytes(data.replace(footer_of(data), shuffled(footer_of(data))))

    digest, size, footer = LocalHasher(str(tmp_path))("part-0.parquet")

    assert (blake3(data).hexdigest(), len(data), footer_of(data)) == (digest, size, footer)
    assert data == path.read_bytes()


@given(st.binary(max_size=200), st.integers(0, 400))
def test_a_damaged_footer_keeps_its_length_and_breaks_nothing(noise, at):
    footer = footer_of(written())
    damaged = footer[:at] + noise + footer[at + len(noise) :]

    assert len(damaged) == len(order_encodings(damaged))
    assert sorted(damaged) == sorted(order_encodings(damaged))
