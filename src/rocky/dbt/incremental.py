"""How a table of dbt's is brought up to date, as a strategy of Rocky's.

dbt filters rows by a text in the query, `is_incremental()`; Rocky by the strategy, over the whole
query. The two agree where the text only adds the usual comparison with the highest value so far;
everything else is said.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rocky.dbt.remarks import Remark
from rocky.dbt.templates import Rendered
from rocky.language.names import bare_name

_THIS: Final = "__this__"
_COLUMN: Final = r"(?:\w+\.|`[^`]+`\.)?(?P<{0}>\w+|`[^`]+`)"
_NEWER: Final = re.compile(
    r"(?:where|and)\s+"
    + _COLUMN.format("column")
    + r"\s*(?P<op>>=?)\s*\(\s*select\s+(?:coalesce\(\s*)?max\(\s*"
    + _COLUMN.format("own")
    + r"\s*\)(?:\s*,\s*[^()]*(?:\([^()]*\))?[^()]*\))?(?:\s+as\s+\w+)?\s+from\s+"
    + _THIS
    + r"(?:\s+(?:as\s+)?\w+)?\s*\)",
    re.IGNORECASE,
)
_MIXES_ROWS: Final = re.compile(
    r"\b(?:group\s+by|distinct|over\s*\(|limit|qualify|having|union|intersect|except)\b|over\s*\(",
    re.IGNORECASE,
)
_COMMENTS: Final = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.)*'", re.DOTALL)
_LONGEST: Final = 160
_MERGED: Final = "Rocky merges all rows of the query in every run"
_REPLACED: Final = "Rocky replaces every partition that the whole query gives"
_WHOLE: Final = "Rocky builds the whole query in every run"
_SETTINGS: Final = (
    (
        "incremental_predicates",
        "`incremental_predicates` are dropped: Rocky looks only into files that can match",
    ),
    ("full_refresh", "`full_refresh` is dropped: `rocky run --full-refresh` is asked for by name"),
)


@dataclass(frozen=True, slots=True)
class Strategy:
    """The value of `strategy` in a sidecar, None for a table that is built as a whole."""

    setting: Mapping[str, Any] | str | None = None
    remarks: tuple[Remark, ...] = ()
    format_options: Mapping[str, Any] = field(default_factory=dict)


def choose_strategy(
    config: Mapping[str, Any], rendered: Rendered, text: str, adapter: str
) -> Strategy:
    """The strategy of a model; `text` is its template, for lines."""
    kind = str(config.get("materialized") or "view")
    partitions = names_of(config.get("partition_by"))
    options = {"partition_by": partitions, "cluster_by": _clusters(config)}
    match kind:
        case "table":
            return Strategy(None, (), options)
        case "view" | "ephemeral" | "materialized_view":
            return Strategy(kind)
        case "incremental":
            return _incremental(config, rendered, text, adapter, options)
        case _:
            said = f"the materialisation `{kind}` is not one that Rocky has: it is built as a table"
            return Strategy(None, (Remark(said, needs_hand=True),), options)


def _incremental(
    config: Mapping[str, Any], rendered: Rendered, text: str, adapter: str, options: dict[str, Any]
) -> Strategy:
    keys = names_of(config.get("unique_key"))
    how = str(
        config.get("incremental_strategy") or ("merge" if adapter == "databricks" else "append")
    )
    line = line_of(text, "is_incremental")
    said = [Remark(words) for key, words in _SETTINGS if config.get(key) is not None]
    change = str(config.get("on_schema_change") or "ignore")
    if change not in ("ignore", "append_new_columns"):
        said.append(
            Remark(
                f"`on_schema_change: {change}` is dropped: Rocky adds columns and refuses the rest"
            )
        )
    if rendered.asks_incremental and not rendered.only_adds:
        why = "`is_incremental()` changes the query and does not only add to it; it is built whole"
        return Strategy(None, (*said, Remark(why, line, needs_hand=True)), options)
    if how == "merge" and not keys:
        how = "append"
    partitions = options["partition_by"]
    match how:
        case "merge" | "delete+insert" if keys:
            return _merge(config, rendered, keys, said, line, options)
        case "insert_overwrite" if partitions:
            setting = {"type": "delete_insert", "partition_by": partitions}
            told = _dropped(rendered, line, _REPLACED)
            return Strategy(setting, (*said, *told), {"cluster_by": options["cluster_by"]})
        case "insert_overwrite":
            why = "`insert_overwrite` without `partition_by` replaces the table: it is built whole"
            told = _dropped(rendered, line, _WHOLE)
            return Strategy(None, (*said, Remark(why), *told), options)
        case "append":
            if keys:
                said.append(
                    Remark("`unique_key` counts only where rows are merged: here it is dropped")
                )
            return _append(rendered, said, line, options)
        case _:
            why = f"`incremental_strategy: {how}` has no counterpart: it is built as a table"
            if how == "microbatch":
                why = (
                    "`microbatch` filters its inputs unseen: write `time_interval` with"
                    " `@start_date` and `@end_date` in the query; until then it is built whole"
                )
            return Strategy(None, (*said, Remark(why, needs_hand=True)), options)


def _merge(
    config: Mapping[str, Any],
    rendered: Rendered,
    keys: list[str],
    said: list[Remark],
    line: int | None,
    options: dict[str, Any],
) -> Strategy:
    setting: dict[str, Any] = {"type": "merge", "unique_key": keys}
    columns = names_of(config.get("merge_update_columns"))
    if columns:
        setting["update_columns"] = columns
    if config.get("merge_exclude_columns"):
        said.append(
            Remark(
                "list what is updated in `update_columns`: there is no `merge_exclude_columns`",
                needs_hand=True,
            )
        )
    return Strategy(setting, (*said, *_dropped(rendered, line, _MERGED)), options)


def _append(
    rendered: Rendered, said: list[Remark], line: int | None, options: dict[str, Any]
) -> Strategy:
    """Rows above the highest so far, where the query says so in the usual way."""

    def by_hand(why: str) -> Strategy:
        return Strategy(
            None,
            (*said, Remark(f"{why}; the whole query is built as a table", line, needs_hand=True)),
            options,
        )

    if not rendered.blocks:
        return by_hand("every run of dbt appends all rows again")
    if len(rendered.blocks) > 1:
        return by_hand("`is_incremental()` adds to the query at several places")
    block = rendered.block_sql(rendered.blocks[0], _THIS)
    found = _NEWER.fullmatch(" ".join(block.split()))
    if found is None:
        return by_hand(
            "what `is_incremental()` adds is not a comparison with `max(...)` of the table"
        )
    own = bare_name(found["own"])
    if bare_name(found["column"]).lower() != own.lower():
        return by_hand(f"rows are compared by `{found['column']}`, and the table has `{own}`")
    if _MIXES_ROWS.search(_COMMENTS.sub(" ", rendered.text)):
        return by_hand("dbt filters rows before they are grouped or numbered, Rocky the result")
    if found["op"] == ">=":
        said.append(
            Remark(
                "`>=` appends the newest rows again in each run of dbt; Rocky appends them once",
                line,
            )
        )
    else:
        said.append(
            Remark(f'what `is_incremental()` adds is now `timestamp_column = "{own}"`', line)
        )
    return Strategy({"type": "incremental", "timestamp_column": own}, tuple(said), options)


def _dropped(rendered: Rendered, line: int | None, every_run: str) -> tuple[Remark, ...]:
    """What a second run does here and not in dbt, where `is_incremental()` chose the rows."""
    if not rendered.asks_incremental:
        return ()
    blocks = [" ".join(rendered.block_sql(each, "the table").split()) for each in rendered.blocks]
    found = (
        _NEWER.fullmatch(blocks[0].replace("from the table", f"from {_THIS}")) if blocks else None
    )
    if found is not None and len(blocks) == 1:
        how = "at or above" if found["op"] == ">=" else "above"
        own = bare_name(found["own"])
        asked = f"rows whose `{bare_name(found['column'])}` is {how} the table's highest `{own}`"
        missed = f"a row that came or changed without a later `{bare_name(found['column'])}`"
    elif blocks:
        text = "; ".join(blocks)
        shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
        asked, missed = f"rows with `{shown}`", "a row outside it that came or changed"
    else:
        return ()
    said = (
        f"`is_incremental()` is left out. From the second run on dbt reads only {asked};"
        f" {every_run}, so {missed} is taken up, which dbt misses"
    )
    if _MIXES_ROWS.search(_COMMENTS.sub(" ", rendered.text)):
        said += ". dbt groups or numbers the rows that it reads then, Rocky all of them"
    return (Remark(said, line),)


def _clusters(config: Mapping[str, Any]) -> list[str]:
    for key in ("liquid_clustered_by", "cluster_by", "clustered_by"):
        found = names_of(config.get(key))
        if found:
            return found
    return []


def names_of(value: Any) -> list[str]:
    """One name or several, as dbt takes both."""
    if isinstance(value, str):
        return [value] if value else []
    return [str(each) for each in value] if isinstance(value, list | tuple) else []


def line_of(text: str, word: str) -> int | None:
    """The line of a word in a text, counted from one."""
    at = text.find(word)
    return None if at < 0 else text.count("\n", 0, at) + 1
