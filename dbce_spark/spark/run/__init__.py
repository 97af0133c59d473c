"""Keep account of a run while it works: how far it is, when it last gave a sign of life, and what it came to."""
