"""Readers: a ledger opened for reading, one reader for each kind of question.

`history` for people, planning and verification, `lookup` for many models at a time, `table` for
tables as they are or were, `heads` for what is sealed. (`rocky.ledger.pipeline_state` has the
reader of what pipelines remember.) A reader never creates or changes a file, and is for one thread.
"""
