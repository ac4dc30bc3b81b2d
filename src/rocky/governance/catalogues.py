"""The catalogues that there are: what each can do, and the one of a project."""

from typing import Final

from rocky.errors import GovernanceRefused
from rocky.governance.catalogue import Abilities, Catalogue
from rocky.governance.databricks import DATABRICKS, DatabricksCatalogue
from rocky.governance.ranger import RANGER, RangerCatalogue
from rocky.governance.unity import UNITY, UnityCatalogue
from rocky.project.configuration.governed_catalog import GovernedCatalog

MATRIX: Final[tuple[tuple[str, Abilities], ...]] = (
    ("unity", UNITY),
    ("databricks", DATABRICKS),
    ("ranger", RANGER),
)
"""What each kind of catalogue can hold."""


def open_catalogue(settings: GovernedCatalog) -> Catalogue:
    """The catalogue of a project. Raises GovernanceRefused when it has none."""
    match settings.kind:
        case "unity":
            return UnityCatalogue(settings)
        case "databricks":
            return DatabricksCatalogue(settings)
        case "ranger":
            return RangerCatalogue(settings)
        case "none":
            raise GovernanceRefused(
                "no catalogue is told who may do what; write `[governance.catalog]` with"
                ' `kind = "unity"`, "databricks" or "ranger"'
            )
