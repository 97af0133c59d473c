"""Which records of an archive are wanted, said before they are read: indexes, filters, ranges of bytes, a sample."""
