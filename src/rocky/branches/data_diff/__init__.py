"""The rows of a branch's tables beside the rows they are compared with."""
