"""The stage that marks duplicates of texts: in one task where texts are few, over tasks where they are many."""
