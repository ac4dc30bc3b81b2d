"""dbt projects for tests: small ones of our own, in the shape of well-known public ones.

`bakery` has the shape of jaffle_shop, `gym` that of the mrr playbook, `helpdesk` that of a package
over a connector's tables, `clicks` that of a package of events and sessions.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rocky.dbt.sandbox import Sandbox
from rocky.dbt.templates import Rendered, render_node
from rocky.dbt.values import DbtProject, Macro, Node, Source

HERE = Path(__file__).parent
PROJECTS = ("bakery", "gym", "helpdesk", "clicks")
MANIFEST = HERE / "manifests" / "bakery.json"
"""What dbt 1.11 compiled of `bakery`, without what nobody reads."""


def copy_project(name: str, folder: Path) -> Path:
    """A project of tests, to be changed."""
    return Path(shutil.copytree(HERE / "projects" / name, folder / name))


def with_manifest(root: Path, change: Any = lambda _: None) -> Path:
    """`bakery` as the last `dbt compile` left it, perhaps changed by somebody."""
    data = json.loads(MANIFEST.read_text())
    change(data)
    (root / "target").mkdir(exist_ok=True)
    (root / "target" / "manifest.json").write_text(json.dumps(data))
    return root


def model(name: str, text: str, **fields: Any) -> Node:
    """A model of the package `shop`."""
    return Node(
        id=f"model.shop.{name}",
        kind="model",
        name=name,
        package="shop",
        path=f"models/{name}.sql",
        text=text,
        **{"schema": "marts", "alias": name, "relation": f"marts.{name}", **fields},
    )


def project(
    *nodes: Node,
    macros: Mapping[str, str] | None = None,
    variables: Mapping[str, Any] | None = None,
) -> DbtProject:
    """A project of these nodes, the source `raw.orders` and the models `orders` and `people`."""
    known = [model("orders", "select 1 as id"), model("people", "select 1 as id"), *nodes]
    source = Source(
        id="source.shop.raw.orders", group="raw", name="orders", package="shop", path="s.yml"
    )
    return DbtProject(
        name="shop",
        root=Path("/nowhere"),
        origin="files",
        nodes={each.id: each for each in known},
        sources={source.id: source},
        macros=tuple(Macro("shop", name, text) for name, text in (macros or {}).items()),
        variables={"shop": dict(variables or {})},
    )


def render(text: str, **given: Any) -> Rendered:
    """The text as the template of a model `m`."""
    made = project(model("m", text), **given)
    return render_node(made, made.nodes["model.shop.m"], Sandbox())


def with_config(text: str, config: Mapping[str, Any]) -> tuple[Rendered, Node]:
    """The template of a model `m` with settings, rendered."""
    node = replace(model("m", text), config=config)
    made = project(node)
    return render_node(made, node, Sandbox()), node
