from rocky.analysis.lineage import model_edges, reach_models

UPSTREAM = {"c": ("a", "b"), "b": ("a",), "a": ("raw.t",), "loop": ("pool",), "pool": ("loop",)}


def test_everything_further_up_is_reached():
    assert {"c", "b", "a", "raw.t"} == reach_models(UPSTREAM, ["c"])


def test_a_cycle_is_walked_once():
    assert {"loop", "pool"} == reach_models(UPSTREAM, ["loop"])


def test_the_edges_among_what_is_reached_are_each_named_once():
    assert [("a", "raw.t"), ("b", "a"), ("c", "a"), ("c", "b")] == model_edges(UPSTREAM, ["c"])
