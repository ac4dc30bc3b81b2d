"""Git, asked about the past of a project: the only home of the `git` program."""
