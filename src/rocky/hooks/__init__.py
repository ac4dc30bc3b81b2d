"""Hooks: what happened in a run, told to commands and to addresses on the net."""
