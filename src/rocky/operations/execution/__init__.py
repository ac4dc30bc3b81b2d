"""Whatever runs models, seeds, tests and pipelines: run, apply, backfill, seed, test, watch."""
