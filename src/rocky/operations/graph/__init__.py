"""The graph of a project: what it has, who reads whom, where columns and tags come from."""
