"""The stage that marks duplicates of texts: in the driver where texts are few, over tasks where they are many."""
