"""Governance: what is declared of tables, brought into a catalogue and kept equal to it.

Facts are declared, held by a catalogue, and applied by us before; the three together say what is to
be added, changed and removed, and what somebody else has said. Adapters only read and say facts.
"""
