"""Plans of Python models are values that somebody else's process wrote."""

from rocky.analysis.python_plans import PlanColumn, PlanFrame, PythonPlan, pack_plan, unpack_plan

TABLE = PlanFrame("orders", [], [], [PlanColumn("id", "bigint", nullable=False)])


def test_a_plan_is_the_same_after_it_was_kept():
    made = PlanFrame("frame_1", [0], [0], [PlanColumn("n", "int", nullable=True)], kept=1)
    plan = PythonPlan("SELECT 1", sites=[("models/a.py", 1, 0, 1, 9)], frames=[TABLE, made])

    assert plan == unpack_plan(pack_plan(plan))
    assert plan.has_frames


def test_frames_that_are_not_made_of_those_before_them_are_none():
    for below in ([1], [2], [-1]):
        own = PlanFrame("frame_1", [], below, [PlanColumn("", "", True, 0, 0)])

        assert not PythonPlan("SELECT 1", frames=[TABLE, own]).has_frames
