import gc

from rocky.compiler.garbage import manual_collection


def test_what_the_program_around_a_compile_froze_stays_frozen():
    gc.freeze()

    with manual_collection():
        pass

    assert gc.get_freeze_count() > 0
