"""Labels of people: merged, measured and exported."""
