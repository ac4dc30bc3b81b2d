"""The Python way in: workspaces and branches with a method for each operation; projects."""
