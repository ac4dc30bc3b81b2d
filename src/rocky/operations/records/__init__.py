"""What was recorded of runs, as people ask for it: history, timeline, cost, log."""
