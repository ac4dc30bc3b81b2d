"""The page: what a browser is shown of a project, as records, and the files that show it.

The records hold no row of any table and no text of an error that a run met, which may quote one.
`assets` are plain scripts and a style sheet: no build makes them, and they open from a disk, where
a browser loads no modules.
"""
