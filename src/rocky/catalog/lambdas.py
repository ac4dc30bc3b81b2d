"""Lambdas: where the binder finds the functions that take them.

The rules live with the other special functions, since the same names may also be called with
a plain expression in the lambda's place.
"""

from rocky.catalog.special.higher_order import HIGHER_ORDER, HigherOrder

__all__ = ["HIGHER_ORDER", "HigherOrder"]
