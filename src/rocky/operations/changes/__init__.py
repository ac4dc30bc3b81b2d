"""What a change of the project does to its tables and their readers."""
