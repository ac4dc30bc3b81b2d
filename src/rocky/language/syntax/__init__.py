"""SQL text to syntax trees with spans; only this package and the binder know the parser library."""

from rocky.language.syntax.parser import ParsedQuery, SyntaxProblem, parse_query

__all__ = ["ParsedQuery", "SyntaxProblem", "parse_query"]
