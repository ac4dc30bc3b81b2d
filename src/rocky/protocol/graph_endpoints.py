"""The endpoints about the graph: what is compiled, where values go, and what would not compile."""

from typing import Final

from rocky.operations.check.compile import CompileReport, CompileRequest, compile_models
from rocky.operations.graph.dag import DagReport, DagRequest, dag
from rocky.operations.graph.lineage import LineageRequest, lineage
from rocky.operations.graph.lineage_report import ColumnLineage, ModelLineage, ProjectLineage
from rocky.operations.graph.list import ListRequest, list_project
from rocky.operations.graph.list_report import ListReport
from rocky.operations.graph.path import PathReport, PathRequest, find_path
from rocky.operations.graph.supposition import SuppositionReport, SuppositionRequest, suppose
from rocky.operations.graph.tag_lineage import TagLineage
from rocky.operations.page.catalog import CatalogReport, CatalogRequest, catalog
from rocky.protocol.endpoint import Arguments, Endpoint, Parameter
from rocky.protocol.memory import Memory

SELECT: Final = Parameter("select", "selectors, as `rocky run` takes them", many=True)


def _compile(memory: Memory, _: Arguments) -> CompileReport:
    return compile_models(memory.workspace, CompileRequest())


def _list(memory: Memory, given: Arguments) -> object:
    return list_project(memory.workspace, ListRequest(None, given["select"]))


def _catalog(memory: Memory, given: Arguments) -> CatalogReport:
    return catalog(memory.workspace, CatalogRequest(given["select"]))


def _dag(memory: Memory, _: Arguments) -> DagReport:
    return dag(memory.workspace, DagRequest())


def _lineage(memory: Memory, given: Arguments) -> object:
    return lineage(
        memory.workspace,
        LineageRequest(
            given["target"],
            given["column"],
            given["upstream"],
            given["downstream"],
            given["classification"],
        ),
    )


def _path(memory: Memory, given: Arguments) -> PathReport:
    return find_path(memory.workspace, PathRequest(given["from"], given["to"] or None))


def _suppose(memory: Memory, given: Arguments) -> SuppositionReport:
    request = SuppositionRequest(
        given["column"], None, given["type"] or None, given["nullable"], given["dropped"]
    )
    return suppose(memory.workspace, request)


GRAPH: Final = (
    Endpoint("compile", "What `rocky compile` finds.", (CompileReport,), _compile),
    Endpoint("list", "Models, sources and seeds.", (ListReport,), _list, (SELECT,)),
    Endpoint("catalog", "Tables with their columns.", (CatalogReport,), _catalog, (SELECT,)),
    Endpoint("dag", "The graph, layer by layer.", (DagReport,), _dag),
    Endpoint(
        "lineage",
        "Where a model's or a column's values come from, and what they reach.",
        (ModelLineage, ColumnLineage, ProjectLineage, TagLineage),
        _lineage,
        (
            Parameter("target", "a model, a source or a seed"),
            Parameter("column", "one of its columns"),
            Parameter("upstream", "what it comes from", bool),
            Parameter("downstream", "what is made from it", bool),
            Parameter("classification", "every column with this tag"),
        ),
    ),
    Endpoint(
        "path",
        "The way between two columns, or all that one reaches.",
        (PathReport,),
        _path,
        (
            Parameter("from", "MODEL.COLUMN", required=True),
            Parameter("to", "MODEL.COLUMN; without it, wherever its values go"),
        ),
    ),
    Endpoint(
        "suppose",
        "What would not compile if a column had another type, could be null, or were dropped.",
        (SuppositionReport,),
        _suppose,
        (
            Parameter("column", "MODEL.COLUMN, of a source or a seed too", required=True),
            Parameter("type", "a type of Spark's, such as `string`"),
            Parameter("nullable", "it could be null", bool),
            Parameter("dropped", "it were not there", bool),
        ),
    ),
)
"""In the order of the documentation."""
