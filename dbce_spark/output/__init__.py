"""Define the tables of an output or a collection, read them, and follow pages through time."""
