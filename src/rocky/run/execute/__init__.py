"""The steps of a run executed: the runner, the scheduler, one step built or reused."""
