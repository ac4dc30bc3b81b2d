"""The commands of `rocky branch`, one a file."""
