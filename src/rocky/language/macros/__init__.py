"""Macros: SQL that is written once and used in many queries, with declared parameters.

A macro is one expression or one query. A call becomes that text with its arguments in it, each part
of which knows where it was written; no part of it can be read together with what stands around the
call, and no name in it can be taken for one of the caller's, or the other way round.
"""
