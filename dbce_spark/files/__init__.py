"""How results are written: files that appear when they are whole, JSON lines, Markdown tables, times as text."""
