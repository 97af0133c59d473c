"""The experiments of the thesis (chapter 4) and those it leaves open (chapter 6), on gold pages and real crawls."""
