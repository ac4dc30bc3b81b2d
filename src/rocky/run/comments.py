"""Comments of tables: what the log of a model's table is to say of it, by the project of now."""

from rocky.plan.steps import RunPlan
from rocky.project.descriptions import describe_model
from rocky.store.delta.comments import Comments


def comments_for(plan: RunPlan, key: str) -> Comments:
    """What is said of a model and its columns, by its key."""
    project = plan.project
    return Comments(*describe_model(project.models[key], project.contracts.get(key)))
