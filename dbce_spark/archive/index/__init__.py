"""Selection of an archive's records before they are read: indexes, filters, ranges of bytes, a sample."""
