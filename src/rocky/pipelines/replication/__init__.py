"""Replication: tables of a source found, routed to targets and copied."""
