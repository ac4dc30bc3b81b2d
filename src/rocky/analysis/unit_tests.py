"""Unit tests as a compile sees them: whether what they give rows of exists at all."""

from collections.abc import Iterator

from rocky.analysis.names import Names
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.suggestion import suggestion
from rocky.language.names import split_name
from rocky.project import ModelFile, Project, setting_place
from rocky.project.toml.variables import written


def check_model_tests(project: Project, names: Names, model: ModelFile) -> Iterator[Diagnostic]:
    """A finding for each `ref` of a model's unit tests that names no model, source or seed."""
    for number, test in enumerate(model.settings.test):
        for place, given in enumerate(test.given):
            parts = split_name(given.ref.lower())
            if names.model(parts, model.key) is not None or names.external(parts) is not None:
                continue
            path, span = setting_place(
                model, project.texts, ("test", number, "given", place, "ref")
            )
            known = [each.name for each in project.models.values()]
            known += [each.name for each in project.sources.values()]
            known += [each.name for each in project.seeds.values()]
            yield Diagnostic(
                Code.UNUSABLE_FILE,
                f"unit test `{written(test.name)}` gives rows of `{written(given.ref)}`, which is"
                " not a model, source or seed",
                span,
                path,
                help=suggestion(written(given.ref), known),
                model=model.name,
            )
