"""Replay: a recorded run built again from its record alone, and compared with what it left."""
