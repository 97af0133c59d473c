"""The stage that compares each page with its siblings and snapshots, by the strategy that suits its site."""
