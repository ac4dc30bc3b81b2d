"""Compiling from Python: the gates of `rocky compile` and `rocky ci`, and what they report."""

import pytest

from rocky.errors import InvalidRequest, NothingSelected
from rocky.operations.check.ci import CiRequest, ci
from rocky.operations.check.compile import CompileRequest, compile_models
from rocky.operations.check.emit_sql import EmitSqlRequest, emit_sql
from rocky.operations.check.validate import validate
from rocky.operations.findings import ErrorsFound
from rocky.operations.graph.list import ListRequest, list_project
from tests.operations.projects import GOOD, open_project

BAD = {**GOOD, "models/bad.sql": "SELECT nope FROM raw.orders\n"}
WARNED = {"models/star.sql": "SELECT *, 1 + 1 FROM raw.orders\n"}


@pytest.mark.parametrize("asked", [{"live": True}, {"record_baselines": True}])
def test_what_concerns_all_models_cannot_be_asked_of_one(tmp_path, asked):
    workspace = open_project(tmp_path, GOOD)

    with pytest.raises(InvalidRequest, match="leave out `--model`"):
        compile_models(workspace, CompileRequest(models=("good",), **asked))


def test_a_compile_reports_models_findings_and_numbers(tmp_path):
    found = compile_models(open_project(tmp_path, BAD), CompileRequest())

    assert (True, True) == (found.failed, found.has_errors)
    assert ["bad", "good", "reader"] == sorted(each.name for each in found.models)
    assert [("E003", "bad", 1)] == [
        (each.code, each.model, each.span.line) for each in found.diagnostics
    ]
    assert (3, 4, 1) == (found.summary.models, found.summary.columns, found.summary.errors)


def test_a_named_model_narrows_what_counts_as_failure(tmp_path):
    workspace = open_project(tmp_path, BAD)
    found = compile_models(workspace, CompileRequest(models=("good",)))
    (model,) = found.models

    assert not found.failed
    assert [("order_id", "bigint", False), ("amount", "decimal(12,2)", True)] == [
        (each.name, each.type, each.nullable) for each in model.columns
    ]
    with pytest.raises(NothingSelected, match="did you mean `good`"):
        compile_models(workspace, CompileRequest(models=("goood",)))


@pytest.mark.parametrize(("files", "code"), [(GOOD, 0), (BAD, 1), (WARNED, 4)])
def test_a_build_is_told_errors_from_warnings(tmp_path, files, code):
    found = ci(open_project(tmp_path, files), CiRequest())

    assert (code, code != 1) == (found.exit_code, found.compile_ok)


def test_models_that_would_not_run_emit_no_sql(tmp_path):
    workspace = open_project(tmp_path, BAD)
    with pytest.raises(ErrorsFound) as refused:
        emit_sql(workspace, EmitSqlRequest(out=tmp_path / "out"))

    assert ["E003"] == [each.code for each in refused.value.findings]
    assert not (tmp_path / "out").exists()
    assert [GOOD["models/good.sql"]] == [
        each.sql for each in emit_sql(workspace, EmitSqlRequest("good")).models
    ]


def test_what_the_project_has_is_counted_and_listed(tmp_path):
    workspace = open_project(tmp_path, BAD)
    listed = list_project(workspace, ListRequest())

    assert (True, 3, 1) == ((found := validate(workspace)).valid, found.models, found.sources)
    assert 1 == listed.errors
    assert {"good": (1, 1), "reader": (1, 0), "bad": (1, 0)} == {
        each.name: (each.upstream, each.downstream) for each in listed.models
    }
    assert listed.sources == list_project(workspace, ListRequest("sources")).sources
