"""The tables of the study of extractors (Gupta 2022) that `dbce evaluate` does not write, from what it leaves."""
