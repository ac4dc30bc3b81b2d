import gc

from rocky.compiler.garbage import manual_collection


def test_what_the_program_around_a_compile_froze_stays_frozen():
    gc.freeze()

    with manual_collection():
        pass

    assert gc.get_freeze_count() > 0


def test_what_a_compile_froze_thaws_with_its_end():
    gc.unfreeze()

    with manual_collection():
        during = gc.get_freeze_count()
    after = gc.get_freeze_count()
    # As it was: other tests shall not have all of it looked through.
    gc.freeze()

    assert during > 0
    assert 0 == after
