"""Maintenance: tables that are looked after between builds, each time in a run of its own."""
