"""(W)ARC and WACZ archives: their bytes, their records and indexes, and the captures in them."""
