"""The commands, a file for those that belong together: each says what arguments they take, and calls one function."""
