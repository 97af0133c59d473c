"""The state of a run: its plan, staged tables, checkpoints, counts and the collection it extends."""
