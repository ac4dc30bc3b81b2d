"""What an editor asks of a project: pure functions over a compilation and the text of a file."""
