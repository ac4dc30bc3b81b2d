"""Pipelines: tables copied, loaded, snapshotted and checked, each as a generated model."""
