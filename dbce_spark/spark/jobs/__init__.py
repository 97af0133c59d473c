"""Jobs from end to end: the main job, increments of a collection, compaction, page histories, streams."""
