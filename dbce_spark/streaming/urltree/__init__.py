"""URL Tree: the streaming sibling of DBCE. A page is labelled as it arrives, by what its site has shown before."""
