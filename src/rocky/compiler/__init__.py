"""Project to Compilation: the ordered passes, the graph, the cache."""
