"""A session without a server: PySpark's own client, whose questions our compiler answers.

Every transformation is PySpark's code. What its client would ask a server about a plan (columns,
types, settings) is worked out here; what would run a job ends at the author's line, with advice.
"""

import os
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Final, NoReturn

import pyarrow as pa
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql.connect import proto
from pyspark.sql.connect.client import SparkConnectClient
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.session import SparkSession
from pyspark.sql.session import SparkSession as AnySession
from pyspark.sql.types import StructType, _parse_datatype_json_value

from rocky.frames.literals import NoSql, parsed_type
from rocky.frames.sites import Site, author_site, noted_sites
from rocky.language.datatypes.text import field_to_json, type_to_json
from rocky.language.datatypes.types import StructField
from rocky.language.datatypes.types import StructType as Struct

_REMOTE: Final = "SPARK_CONNECT_MODE_ENABLED"
_VIEW: Final = re.compile(
    r"\s*create\s+(or\s+replace\s+)?(global\s+)?temp(?:orary)?\s+view\s+(\w+)\s+as\s+(.+)",
    re.IGNORECASE | re.DOTALL,
)
_FIRST_WORD: Final = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(\w+)", re.DOTALL)
_QUERIES: Final = frozenset({"SELECT", "WITH", "FROM", "VALUES", "TABLE", "MAP", "REDUCE"})

Answer = Callable[[Any], tuple[StructField, ...]]
"""The columns of a plan. Raises NeedsRows where they cannot be known."""

SETTINGS: Final[Mapping[str, str]] = {
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.session.localRelationCacheThreshold": str(2**62),
    "spark.sql.session.localRelationChunkSizeRows": "10000",
    "spark.sql.session.localRelationChunkSizeBytes": str(16 << 20),
    "spark.sql.session.localRelationBatchOfChunksSizeBytes": str(1 << 30),
    "spark.sql.execution.pandas.convertToArrowArraySafely": "false",
    "spark.sql.execution.pandas.inferPandasDictAsMap": "false",
    "spark.sql.pyspark.inferNestedDictAsStruct.enabled": "false",
    "spark.sql.pyspark.legacy.inferArrayTypeFromFirstElement.enabled": "false",
    "spark.sql.pyspark.legacy.inferMapTypeFromFirstPair.enabled": "false",
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    "spark.sql.execution.pyspark.binaryAsBytes": "true",
    "spark.sql.repl.eagerEval.enabled": "false",
    "spark.sql.repl.eagerEval.maxNumRows": "20",
    "spark.sql.repl.eagerEval.truncate": "20",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.pyspark.udf.profiler": "",
    "spark.sql.shuffle.partitions": "200",
}
"""What reading a setting gives: Spark's defaults, and UTC as every run has it."""


class NeedsRows(Exception):
    """Something asked for rows, or for a server, while a plan was built; `site` is the call.

    `latest` is the last one of all: code that catches it goes on, and on a cluster would not have.
    """

    latest: "NeedsRows | None" = None

    def __init__(self, what: str, site: Site | None, advice: str) -> None:
        super().__init__(what, site, advice)
        NeedsRows.latest = self
        self.what = what
        self.site = site
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.what}: {self.advice}"


_ADVICE: Final = (
    "keep to transformations, and return the frame; a model that must look at rows keeps its"
    " declared `output`"
)


class PlanClient(SparkConnectClient):  # type: ignore[misc] # pyspark is not followed
    """The client of a session: answers about plans, and nothing else."""

    def __init__(self, columns_of: Answer) -> None:  # no channel: the base class would open one
        self.thread_local = threading.local()
        self._session_id = str(uuid.uuid4())
        self._user_id = None
        self._closed = False
        self._columns_of = columns_of
        self.settings: dict[str, str] = dict(SETTINGS)
        self.views: dict[str, Any] = {}
        self.functions: dict[str, Any] = {}
        """What `spark.udf` and `spark.udtf` were told to register, by name."""

    def __getattr__(self, name: str) -> Any:
        raise _refusal(f"`{name}`")

    def _set_relation_in_plan(self, plan: Any, relation: Any) -> None:
        plan.root.CopyFrom(relation)

    def _set_command_in_plan(self, plan: Any, command: Any) -> None:
        plan.command.CopyFrom(command)

    def _cleanup_ml_cache(self) -> None:
        pass

    def schema(self, plan: Any) -> StructType:
        return spark_schema(self._columns_of(plan.root))

    def _analyze(self, method: str, **given: Any) -> Any:
        if method == "ddl_parse":
            return SimpleNamespace(parsed=_parsed(given["ddl_string"]))
        if method == "is_streaming":
            return SimpleNamespace(is_streaming=False)
        if method == "is_local":
            return SimpleNamespace(is_local=False)
        if method in ("persist", "unpersist"):
            return SimpleNamespace()
        if method == "spark_version":
            return SimpleNamespace(spark_version="4.1.0")
        raise _refusal(f"`{method}`")

    def explain_string(self, plan: Any, explain_mode: str = "extended") -> str:
        del plan, explain_mode
        return "no plan of Spark: nothing runs while a model is checked\n"

    def get_configs(self, *keys: str) -> tuple[str | None, ...]:
        return tuple(self.settings.get(key) for key in keys)

    def get_config_dict(self, *keys: str) -> Mapping[str, str | None]:
        return {key: self.settings.get(key) for key in keys}

    def get_config_with_defaults(self, *pairs: tuple[str, str | None]) -> tuple[str | None, ...]:
        return tuple(self.settings.get(key, default) for key, default in pairs)

    def config(self, operation: Any) -> Any:
        kind = operation.WhichOneof("op_type")
        asked = getattr(operation, kind)
        if kind == "set":
            for pair in asked.pairs:
                self.settings[pair.key] = pair.value
            return SimpleNamespace(pairs=[], warnings=[])
        if kind in ("get", "get_option"):
            found = [(key, self.settings.get(key)) for key in asked.keys]
        elif kind == "get_with_default":
            found = [(each.key, self.settings.get(each.key, each.value)) for each in asked.pairs]
        elif kind == "unset":
            for key in asked.keys:
                self.settings.pop(key, None)
                if key in SETTINGS:
                    self.settings[key] = SETTINGS[key]
            return SimpleNamespace(pairs=[], warnings=[])
        elif kind == "is_modifiable":
            found = [(key, "true") for key in asked.keys]
        else:
            raise _refusal(f"`spark.conf` ({kind})")
        return SimpleNamespace(pairs=found, warnings=[])

    def execute_command(
        self, command: Any, *_: Any, **__: Any
    ) -> tuple[None, dict[str, Any], None]:
        """Only what keeps a plan under a name, or is a query itself, can be done without rows."""
        kind = command.WhichOneof("command_type")
        if kind == "sql_command":
            self._run_sql(command.sql_command.input)
            return None, {}, None
        if kind == "create_dataframe_view":
            view = command.create_dataframe_view
            self._keep_view(view.name, view.input, everywhere=view.is_global, again=view.replace)
            return None, {}, None
        if kind in ("register_function", "register_table_function"):
            made = getattr(command, kind)
            self.functions[made.function_name] = made
            return None, {}, None
        if kind in ("write_operation", "write_operation_v2"):
            raise _refusal("`write`", "return the frame: Rocky writes the table of the model")
        raise _refusal(f"a command (`{kind}`)")

    def _execute_plan_request_with_metadata(self, *_: Any) -> Any:
        return proto.ExecutePlanRequest(session_id=self._session_id)

    def _execute(self, request: Any) -> None:
        self.execute_command(request.plan.command)

    def _run_sql(self, relation: Any) -> None:
        """SQL that is a query waits for its reader; of the rest only a view is kept."""
        text = relation.sql.query
        kept = _VIEW.match(text)
        if kept is not None:
            again, everywhere, name, query = kept.groups()
            made = proto.Relation(sql=proto.SQL(query=query), common=relation.common)
            self._keep_view(name, made, everywhere=bool(everywhere), again=bool(again))
            # What `CREATE VIEW` gives is a frame without columns and rows.
            relation.sql.query = "SELECT 1 WHERE false"
            return
        word = _FIRST_WORD.match(text)
        if word is not None and word[1].upper() not in _QUERIES:
            raise _refusal(f"SQL that is no query (`{word[1].upper()}`)")

    def _keep_view(self, name: str, relation: Any, *, everywhere: bool, again: bool) -> None:
        key = f"global_temp.{name}".lower() if everywhere else name.lower()
        if key in self.views and not again:
            raise AnalysisException(
                f"a temporary view `{name}` exists already",
                errorClass="TEMP_TABLE_OR_VIEW_ALREADY_EXISTS",
                messageParameters={"relationName": name},
            )
        self.views[key] = relation

    def to_table(self, plan: Any, *_: Any, **__: Any) -> Any:
        asked = plan.root.catalog
        kind = asked.WhichOneof("cat_type") if plan.root.HasField("catalog") else None
        if kind in ("drop_temp_view", "drop_global_temp_view"):
            name = getattr(asked, kind).view_name.lower()
            key = f"global_temp.{name}" if kind == "drop_global_temp_view" else name
            gone = self.views.pop(key, None) is not None
            return pa.table({"value": [gone]}), None, None
        raise _refusal("`collect`, `count`, `show` or another action")

    def to_table_as_iterator(self, *_: Any, **__: Any) -> NoReturn:
        raise _refusal("`toLocalIterator`")

    def to_pandas(self, *_: Any, **__: Any) -> NoReturn:
        raise _refusal("`toPandas`")

    @property
    def is_closed(self) -> bool:
        return False

    def close(self) -> None:
        pass

    def release_session(self) -> None:
        pass


class PlanSession(SparkSession):  # type: ignore[misc] # pyspark is not followed
    """PySpark's session over a `PlanClient`."""

    def __init__(self, columns_of: Answer) -> None:  # no channel: the base class would open one
        self._client = PlanClient(columns_of)
        self._session_id = self._client._session_id  # noqa: SLF001 - as the base class has it
        self.release_session_on_close = False
        self.checks: Callable[[Any], Any] | None = None
        """What is known of a frame of this session."""

    @property
    def version(self) -> str:
        return "4.1.0"

    def stop(self) -> None:
        """Nothing was started."""

    def __del__(self) -> None:
        pass


@contextmanager
def building(session: PlanSession) -> Iterator[None]:
    """While open, PySpark's functions make columns of plans, each with its call's place.

    PySpark decides by the environment whether its functions are those of a server's client, and
    makes functions of Python for the session that is active. A builder gives that session too,
    with its settings, as it gives the running one in a run; PySpark's own would want an address.
    """
    before = os.environ.get(_REMOTE)
    active = getattr(SparkSession._active_session, "session", None)  # noqa: SLF001 - PySpark's own
    default = SparkSession._default_session  # noqa: SLF001
    get_or_create = AnySession.Builder.getOrCreate
    os.environ[_REMOTE] = "1"
    SparkSession._active_session.session = session  # noqa: SLF001
    SparkSession._default_session = session  # noqa: SLF001
    AnySession.Builder.getOrCreate = _session_in_use
    try:
        with noted_sites():
            yield
    finally:
        AnySession.Builder.getOrCreate = get_or_create
        SparkSession._active_session.session = active  # noqa: SLF001
        SparkSession._default_session = default  # noqa: SLF001
        if before is None:
            os.environ.pop(_REMOTE, None)
        else:
            os.environ[_REMOTE] = before


def _session_in_use(builder: Any) -> Any:
    """What `getOrCreate` of a builder gives while plans are built."""
    options = builder._options  # noqa: SLF001 - the one way to them
    return SparkSession.builder.config(map=options).getOrCreate()


def relation_of(frame: DataFrame, session: PlanSession) -> Any:
    """The plan of a frame as the client would send it."""
    return frame._plan.plan(session.client)  # noqa: SLF001 - the one way to a plan


def spark_schema(fields: tuple[StructField, ...]) -> StructType:
    """PySpark's schema of columns. Raises NeedsRows where a type is not known."""
    if any("unknown" in str(type_to_json(each.type)) for each in fields):
        raise _refusal("a type that is not known", "declare it with a cast")
    value = {"type": "struct", "fields": [field_to_json(each) for each in fields]}
    found = _parse_datatype_json_value(value)
    if not isinstance(found, StructType):
        raise TypeError(found)
    return found


def _parsed(text: str) -> Any:
    try:
        kind = parsed_type(text)
    except NoSql as fault:
        raise ParseException(
            f"{fault} cannot be read",
            errorClass="PARSE_SYNTAX_ERROR",
            messageParameters={"error": text, "hint": ""},
        ) from fault
    if isinstance(kind, Struct):
        return spark_schema(kind.fields)
    return _parse_datatype_json_value(type_to_json(kind))


def _refusal(what: str, advice: str = _ADVICE) -> NeedsRows:
    return NeedsRows(what, author_site(), advice)
