"""The tables of an output or a collection: their schemas, how they are read, and what they tell over time."""
