"""Stub tables: names with a schema and no rows, in any catalogue a project writes to.

Temporary views take one-part names only, and Spark's own tables forget NOT NULL, so a small
catalogue of ours is given to Spark. Names then resolve by Spark's own rules, three-part names
and qualified columns included, and the SQL that is analysed is the author's, unchanged.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from itertools import count
from typing import Any

from pyspark.sql import SparkSession

from rocky.datatypes.text import field_to_json
from rocky.datatypes.types import StructField

SESSION_CATALOG = "spark_catalog"
DEFAULT_NAMESPACE = "default"
_CLASS = "StubCatalog"
_numbers = count(1)


class Stubs:
    """The stub tables of one session. Catalogue names are fixed when it is made."""

    def __init__(self, session: SparkSession, catalogs: set[str]) -> None:
        self._jvm: Any = session._jvm  # noqa: SLF001 - the JVM has no public door
        compiler = self._jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(self._thread().getContextClassLoader())
        # The bridge to the JVM remembers methods by class name: each class needs a name of its own.
        name = f"{_CLASS}{next(_numbers)}"
        source = (files("rocky.spark") / f"{_CLASS}.java").read_text(encoding="utf-8")
        compiler.cook(source.replace(f"public class {_CLASS}", f"public class {name}"))
        self._loader: Any = compiler.getClassLoader()
        self._catalog: Any = self._loader.loadClass(name).newInstance()
        self._catalogs = {catalog.lower() for catalog in catalogs} | {SESSION_CATALOG}
        for catalog in self._catalogs:
            session.conf.set(f"spark.sql.catalog.{catalog}", name)

    def _thread(self) -> Any:
        return self._jvm.java.lang.Thread.currentThread()

    @contextmanager
    def in_reach(self) -> Iterator[None]:
        """Let Spark find our class: it makes a catalogue when a query first names it."""
        thread = self._thread()
        before = thread.getContextClassLoader()
        thread.setContextClassLoader(self._loader)
        try:
            yield
        finally:
            thread.setContextClassLoader(before)

    def put(self, parts: Sequence[str], fields: Sequence[StructField]) -> None:
        """Make a table answer to a name of one, two or three parts."""
        document = {"type": "struct", "fields": [field_to_json(field) for field in fields]}
        schema = self._jvm.org.apache.spark.sql.types.DataType.fromJson(json.dumps(document))
        for path in self._paths([part.lower() for part in parts]):
            self._catalog.put(path, schema)

    def _paths(self, parts: list[str]) -> list[str]:
        """Where Spark looks for a name: under a catalogue it begins with, else in its own."""
        paths = []
        if len(parts) > 1 and parts[0] in self._catalogs:
            paths.append(".".join(parts))
        if len(parts) == 1:
            paths.append(f"{SESSION_CATALOG}.{DEFAULT_NAMESPACE}.{parts[0]}")
        elif len(parts) == 2:
            paths.append(f"{SESSION_CATALOG}.{parts[0]}.{parts[1]}")
        return paths
