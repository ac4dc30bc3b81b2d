"""What a run would do: selectors over the graph, steps in order. Pure, like compiling."""
