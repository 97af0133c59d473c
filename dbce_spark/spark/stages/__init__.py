"""The stages of the main job, a module or package each with one entry."""
