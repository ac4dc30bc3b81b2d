"""Plans: which steps a request asks for, what they may cost, and the plan that is kept of them."""
