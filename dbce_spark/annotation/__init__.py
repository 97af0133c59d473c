"""Labels by people: pages, what annotators submitted of them, and the gold set that comes of it."""
