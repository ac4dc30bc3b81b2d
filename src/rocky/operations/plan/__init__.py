"""Making, showing and checking plans: what runs would do, worked out without doing any of it."""
