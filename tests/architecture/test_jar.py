"""The jar for Spark that is checked in: made from the sources in `java/`, and part of a release."""

import pytest

from rocky.spark.java import OWN_JAR
from tools.build_jar import JAR, build_jar, find_compiler, hash_sources, named_sources


def test_the_jar_says_that_it_was_made_from_these_sources():
    assert hash_sources()[:32] == named_sources(JAR), "run `make jar`"
    assert JAR.samefile(OWN_JAR)
    assert JAR.stat().st_size < 64 * 1024


@pytest.mark.slow
@pytest.mark.exhaustive
def test_compiling_the_sources_gives_the_jar_byte_by_byte(tmp_path):
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("a JDK 17 is needed to compile")

    build_jar(tmp_path / "again.jar", compiler)
    assert JAR.read_bytes() == (tmp_path / "again.jar").read_bytes(), "run `make jar`"
