"""What a run is and keeps of itself: its plan, staged tables, checkpoints, counts and the collection it extends."""
