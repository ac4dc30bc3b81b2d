"""How a project begins: from a template, or taken over from dbt and compared with it."""
