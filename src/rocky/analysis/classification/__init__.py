"""Classification: which tags the columns of every table have, by word or by origin."""

from rocky.analysis.classification.facts import Classifications, TagFact
from rocky.analysis.classification.flow import classify, classify_output

__all__ = ["Classifications", "TagFact", "classify", "classify_output"]
