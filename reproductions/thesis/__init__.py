"""The learned test cases of the thesis, T003 to T006, beside T001 and T002: the measurements of its chapters 4 to 6."""
