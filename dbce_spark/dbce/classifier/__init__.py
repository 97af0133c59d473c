"""The classifier: what it sees of blocks, the forests over that, and the file that both are kept in."""
