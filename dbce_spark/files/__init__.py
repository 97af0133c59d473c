"""Files in any storage: inputs found and opened, outputs that appear when they are whole, JSON lines, Markdown tables,
times as text."""
