"""The commands, a file for those that belong together: it declares their arguments, and each calls one function."""
