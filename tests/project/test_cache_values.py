"""What is in cache files: values come back as they were, and bytes that are none are no cache."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from msgspec.msgpack import Decoder

from rocky.compiler.passes import compile_project
from rocky.project import load_project
from rocky.project.cache import MODELS, load_model_cache, load_values, pack, save_values
from rocky.project.user_cache import write_cache
from tests.compiler.projects import SHOP, write
from tests.project.test_memory import remembered, settle, unread

STAMP = b"stamp"
NAME = "values.bin"
ANY = Decoder(dict[str, tuple[int, str]])
NESTED = Decoder(dict[str, object])


def test_values_come_back_with_their_stamp_alone(tmp_path):
    save_values(tmp_path, NAME, STAMP, {"a": (1, "x")})

    assert {"a": (1, "x")} == load_values(tmp_path, NAME, STAMP, ANY)
    assert {} == load_values(tmp_path, NAME, b"other", ANY)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{\xa8\x01\0\0\0r\0\0\0\0N0",
        b"\xdf\xff\xff\xff\xff",
        b"\xdd\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\x81\xa1a" + b"\x91" * 1_000_000,
        b"\x81\xa1a" + b"\x81\xa1a" * 1_000_000,
        b"\x81\xa1\xff\x92\x01\xa1x",
        b"\x81\xa1a\x92\x01",
        b"\x80\x80",
    ],
)
@pytest.mark.parametrize("decoder", [ANY, NESTED])
def test_bytes_that_are_no_values_are_no_cache_though_the_user_wrote_them(
    tmp_path, payload, decoder
):
    assert write_cache(tmp_path, NAME, STAMP + payload)

    assert {} == load_values(tmp_path, NAME, STAMP, decoder)


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("root")


@given(some.binary(max_size=200))
def test_any_bytes_are_values_or_no_cache(root, payload):
    assert write_cache(root, NAME, STAMP + payload)

    assert isinstance(load_values(root, NAME, STAMP, NESTED), dict)


def test_values_of_other_types_are_no_cache(tmp_path):
    save_values(tmp_path, NAME, STAMP, {"a": ("x", 1)})

    assert {} == load_values(tmp_path, NAME, STAMP, ANY)


def test_damaged_rows_of_models_are_no_memory(tmp_path):
    assert write_cache(tmp_path, MODELS, b"\x80" * 100)
    assert {} == load_model_cache(tmp_path).rows


def test_packed_bytes_are_a_function_of_the_values():
    once = "".join(["ab", "c"])
    twice = ("abc", once, once)

    assert pack(twice) == pack(("abc", "abc", "abc"))
    assert pack([1, True]) != pack([1, 1])
    assert pack(["\ud800"]) == pack(["\\ud800"])


def test_what_cannot_be_written_down_leaves_the_rest(tmp_path):
    values = {"a": (1, "x"), "b\udcff": (1, "x"), "c": (1, "\ud800"), "d": (1 << 70, "x")}
    save_values(tmp_path, NAME, STAMP, values)

    assert {"a": (1, "x")} == load_values(tmp_path, NAME, STAMP, ANY)


def test_a_file_name_that_is_no_text_only_costs_time(tmp_path):
    write(tmp_path, SHOP)
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/models/n\xff.sql"))).write_text("SELECT 1 AS x\n")
    settle(tmp_path)
    first = compile_project(remembered(tmp_path))
    project = remembered(tmp_path)
    second = compile_project(project)

    assert first.diagnostics == second.diagnostics
    assert {"orders", "totals", "notes", "report"} <= {each.lower() for each in unread(project)}
    assert second.statistics.bound <= 1
    assert load_project(tmp_path, env={}).models.keys() == project.models.keys()
