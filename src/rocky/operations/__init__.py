"""Operations: a module for each thing people ask of Rocky, in a room of its kind; gates live here.

What all rooms share stands here: the workspace, reports and their digests, findings.
"""
