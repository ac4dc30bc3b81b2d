"""What is said of a node of dbt's, as the sidecar, the contract and the tests of Rocky's."""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any, Final

from rocky.dbt.checks import table_named
from rocky.dbt.incremental import names_of
from rocky.dbt.remarks import Remark
from rocky.dbt.toml_text import Block, Inline
from rocky.dbt.values import Column, DbtProject, Node, UnitTest
from rocky.errors import RockyError
from rocky.language.datatypes.text import parse_type

_LEFT_OUT: Final = (
    ("grants", "`grants` are not passed on: grant them in the catalogue"),
    ("location_root", "`location_root` is left out: tables lie below `warehouse` of `[adapter]`"),
    ("tblproperties", "`tblproperties` are left out: tables have no properties of your own"),
    ("buckets", "`buckets` are left out"),
    ("sql_header", "`sql_header` is not run"),
)
_TEXT_TYPES: Final = frozenset({"varchar", "text", "character varying", "char"})


def describe_node(project: DbtProject, node: Node, config: Mapping[str, Any]) -> dict[str, Any]:
    """The labels of a sidecar: description, owner, tags, target, `meta`, columns."""
    meta = {**_plain(config.get("meta"))}
    owner = meta.pop("owner", None)
    if node.group:
        meta["group"] = node.group
        owner = project.groups.get(node.group) or owner
    readers = [each.name for each in project.exposures if node.id in each.reads]
    if readers:
        meta["exposures"] = readers
    return {
        "description": node.description.strip() or None,
        "owner": owner if isinstance(owner, str) else None,
        "tags": list(dict.fromkeys(names_of(config.get("tags")))),
        "target": target_of(project, node, config),
        "meta": meta,
        "columns": {
            name: {"description": each.description.strip()}
            for name, each in node.columns.items()
            if each.description.strip()
        },
    }


def target_of(project: DbtProject, node: Node, config: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a table's name that are not the project's own, or the file's."""
    schema = node.schema or str(config.get("schema") or config.get("target_schema") or "")
    alias = str(config.get("alias") or node.alias or node.name)
    return {
        "catalog": node.database,
        "schema": schema if schema and schema != project.default_schema else None,
        "table": alias if alias != node.table else None,
    }


def settings_remarks(config: Mapping[str, Any]) -> tuple[Remark, ...]:
    """What a configuration asks for and Rocky does not do."""
    return tuple(Remark(words) for key, words in _LEFT_OUT if config.get(key))


# ------------------------------------------------------------------ contracts


def contract_of(node: Node, config: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Remark, ...]]:
    """The contract of a model that enforces one: exactly these columns, with these types."""
    contract = config.get("contract")
    if not isinstance(contract, Mapping) or not contract.get("enforced"):
        return {}, ()
    columns, said = [], []
    for each in node.columns.values():
        kind = spark_type(each)
        if kind is None and each.type:
            said.append(
                Remark(f"the contract of `{each.name}` has no type: Spark knows no `{each.type}`")
            )
        columns.append(Inline({"name": each.name, "type": kind}))
    return {"columns": columns, "rules": {"strict": True}}, tuple(said)


def constraint_tests(node: Node) -> list[Block]:
    """Constraints NOT NULL as assertions: dbt asks the rows too, and a contract would be proof."""
    required = [each.name for each in node.columns.values() if each.is_required]
    return [Block({"type": "not_null", "column": name}) for name in required]


def spark_type(column: Column) -> str | None:
    """The type of a column as Spark writes it; None where there is none."""
    if not column.type:
        return None
    text = column.type.strip().lower()
    if text.partition("(")[0].strip() in _TEXT_TYPES:
        return "string"
    try:
        parse_type(text)
    except (RockyError, ValueError):
        return None
    return text


# ------------------------------------------------------------------ unit tests


def unit_test_block(project: DbtProject, test: UnitTest) -> tuple[Block | None, Remark | None]:
    """A unit test as a sidecar has it, or why there is none."""
    if test.problem is not None:
        return None, Remark(
            f"the unit test `{test.name}` is not taken: {test.problem}", needs_hand=True
        )
    given = []
    for written, rows in test.given:
        name = table_named(project, written)
        if name is None:
            why = f"the unit test `{test.name}` is not taken: it gives rows to `{written}`"
            return None, Remark(why, needs_hand=True)
        given.append(Block({"ref": name, "rows": _rows(rows)}))
    return Block(
        {
            "name": test.name,
            "description": test.description.strip() or None,
            "given": given,
            "expect": {"rows": _rows(test.expected)},
        }
    ), None


def _rows(rows: Iterable[Mapping[str, Any]]) -> list[Inline]:
    return [
        Inline({str(key): each for key, each in row.items() if each is not None}) for row in rows
    ]


# ------------------------------------------------------------------ values


def _plain(value: Any) -> dict[str, Any]:
    """A table of what TOML can hold; the rest as text."""
    return (
        {str(key): _toml(each) for key, each in value.items()} if isinstance(value, Mapping) else {}
    )


def _toml(value: Any) -> Any:
    match value:
        case Mapping():
            return Inline(_plain(value))
        case list() | tuple():
            return [_toml(each) for each in value if each is not None]
        case float() if not math.isfinite(value):
            return str(value)
        case bool() | int() | float() | str() | date() | datetime() | None:
            return value
        case _:
            return str(value)


def plain_meta(value: Any) -> dict[str, Any]:
    """`meta` of anything, as TOML can hold it."""
    return _plain(value)


_SNAPSHOT_NAMES: Final = {
    "dbt_valid_from": "valid_from",
    "dbt_valid_to": "valid_to",
    "dbt_scd_id": "snapshot_id",
}


def snapshot_strategy(
    config: Mapping[str, Any],
) -> tuple[dict[str, Any] | None, tuple[Remark, ...]]:
    """The strategy of a snapshot, and how it differs."""
    keys = names_of(config.get("unique_key"))
    if not keys or any(re.fullmatch(r"\w+", each) is None for each in keys):
        why = "a snapshot finds its rows by columns: name them in `unique_key`"
        return None, (Remark(why, needs_hand=True),)
    setting: dict[str, Any] = {"type": "snapshot", "unique_key": keys}
    said = [Remark("its history begins with the first run; earlier versions stay in dbt's table")]
    if str(config.get("strategy") or "check") == "timestamp":
        setting["updated_at"] = str(config.get("updated_at") or "")
    elif config.get("check_cols") not in ("all", ["all"]):
        checked = ", ".join(f"`{each}`" for each in names_of(config.get("check_cols")))
        said.append(
            Remark(
                "a row has a new version when any of its columns has changed, in dbt when one of"
                f" `check_cols` has: {checked}. Leave columns out of the query that should not"
                " count"
            )
        )
    deletes = str(config.get("hard_deletes") or "ignore")
    if deletes == "invalidate" or config.get("invalidate_hard_deletes"):
        setting["invalidate_hard_deletes"] = True
    elif deletes == "new_record":
        said.append(Remark("`hard_deletes: new_record` has no counterpart", needs_hand=True))
    return setting, tuple(said)


def rename_snapshot_columns(sql: str) -> tuple[str, list[str]]:
    """A query that reads a snapshot with Rocky's names of its columns; those that were renamed."""
    renamed: list[str] = []
    for before, after in _SNAPSHOT_NAMES.items():
        changed = re.sub(rf"\b{before}\b", after, sql)
        if changed != sql:
            renamed.append(f"`{before}` is now `{after}`")
        sql = changed
    return sql, renamed
