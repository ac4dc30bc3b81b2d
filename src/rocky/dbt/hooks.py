"""Hooks of dbt's, which are SQL: what each is for, and what to write in its place.

Rocky's hooks are commands and webhooks that a run calls. None of them is SQL, so no hook is taken
over: it is named, at its line, with what does the same here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from rocky.dbt.remarks import Remark
from rocky.dbt.values import Macro

_LONGEST: Final = 80
_CALLED: Final = re.compile(r"(?P<name>\w+)\s*\(")
_EXPRESSION: Final = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL)
_HOOKS: Final = ("pre-hook", "post-hook")
_RUN_HOOKS: Final = ("on-run-start", "on-run-end")
_FUNCTION: Final = re.compile(
    r"\bcreate\s+(?:or\s+replace\s+)?(?:temporary\s+|temp\s+)?function\s+"
    r"(?:if\s+not\s+exists\s+)?`?(?P<name>[\w.]*)",
    re.IGNORECASE,
)
_ADVICE: Final = (
    (r"\bgrant\b|\brevoke\b", "grant in the catalogue, where it holds for every later version"),
    (r"\b(?:optimize|vacuum)\b", "`rocky compact` and `rocky gc` do it, when you call them"),
    (r"\banalyze\s+table\b", "nothing is needed: every commit has its statistics"),
    (r"\bcreate\s+(?:schema|database)\b", "nothing is needed: a run makes the folders it writes"),
    (
        r"\binsert\s+into\b",
        "to note what has run, read `rocky history`, which has every run and model; rows that"
        " others need are a model of their own",
    ),
    (
        r"\b(?:delete\s+from|update|merge\s+into|truncate)\b",
        "rows are what queries say: put it into the model's query, or use `merge` or"
        " `delete_insert`",
    ),
    (r"\bset\s+[\w.]+\s*=", "settings of Spark stand in `[adapter.conf]`"),
)
_NO_SQL: Final = "hooks of Rocky are commands, not SQL"
_ELSE: Final = "a command that does it can be a `[hook.{event}]`"
_EVENTS: Final = {"on-run-start": "on_run_start", "pre-hook": "on_run_start"}


def project_hooks(
    settings: Mapping[str, Any], text: str, file: str, macros: Iterable[Macro]
) -> Iterator[str]:
    """A sentence for each hook of a project's settings, whose `text` is that of `file`."""
    known = tuple(macros)
    for key in _RUN_HOOKS:
        start = max(text.find(f"{key}:"), 0)
        for sql in _statements(settings.get(key)):
            first = sql.strip().splitlines()[0].strip() if sql.strip() else ""
            at = text.find(first, start)
            line = text.count("\n", 0, at if at >= 0 else start) + 1
            yield (
                f"`{key}` needs a hand, it is not run: {_shown(sql)} ({file}:{line});"
                f" {_NO_SQL}: {advise(key, sql, known)}"
            )


def model_hooks(config: Mapping[str, Any], text: str, macros: Iterable[Macro]) -> list[Remark]:
    """What is said of the hooks of a model, whose template is `text`, at their lines."""
    known = tuple(macros)
    said = []
    for key in _HOOKS:
        written = key.replace("-", "_")
        for sql in (*_statements(config.get(key)), *_statements(config.get(written))):
            at = max(text.find(sql.strip()), text.find(written))
            line = text.count("\n", 0, at) + 1 if at >= 0 else None
            why = f"the `{key}` is not run: {_shown(sql)}; {_NO_SQL}: {advise(key, sql, known)}"
            said.append(Remark(why, line, needs_hand=True))
    return said


def advise(key: str, sql: str, macros: Iterable[Macro] = ()) -> str:
    """What to write in the place of a hook, by its text and that of the macros that it calls."""
    names = {each["name"] for each in _CALLED.finditer(" ".join(_EXPRESSION.findall(sql)))}
    bodies = [_EXPRESSION.sub(" ", sql), *(each.text for each in macros if each.name in names)]
    whole = "\n".join(bodies)
    function = _FUNCTION.search(whole)
    if function is not None:
        name = function["name"].rpartition(".")[2] or "NAME"
        return f"declare the function in `functions/{name}.sql`: each run that needs it makes it"
    for pattern, advice in _ADVICE:
        if re.search(pattern, whole, re.IGNORECASE):
            return advice
    return _ELSE.format(event=_EVENTS.get(key, "on_run_success"))


def _statements(value: Any) -> list[str]:
    """The texts of hooks: one, a list of them, or tables with `sql`."""
    listed = value if isinstance(value, list | tuple) else [value]
    texts = [each.get("sql") if isinstance(each, Mapping) else each for each in listed]
    return [each for each in texts if isinstance(each, str) and each.strip()]


def _shown(sql: str) -> str:
    text = " ".join(sql.split())
    return f"`{text[:_LONGEST]}{'...' if len(text) > _LONGEST else ''}`"
