"""The leaderboard, docs/leaderboard.md: what extractors reach on all sets. `board` writes it from `results`."""
