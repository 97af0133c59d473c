"""Label each page of a stream as it arrives, by the pages its site has shown before: URL Tree, DBCE's streaming
sibling."""
