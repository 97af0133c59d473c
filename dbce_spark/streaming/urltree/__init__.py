"""URL Tree: pages are labelled by counts of their blocks on the pages that their site has shown before."""
