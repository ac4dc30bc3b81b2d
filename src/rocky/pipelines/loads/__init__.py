"""Loads: files of a folder brought into tables, each once."""
