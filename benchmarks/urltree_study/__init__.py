"""A study of URL Tree on long domains: the numbers N of its heuristics, its window, similarity hashes, and kinds of
boilerplate (sections 5.4 and 6 of the paper)."""
