"""Text and places in it."""

from rocky.source.span import Span
from rocky.source.text import SourceText

__all__ = ["SourceText", "Span"]
