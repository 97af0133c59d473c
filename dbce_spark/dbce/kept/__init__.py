"""The blocks of a page that are kept, their text, and the formats that it is written in."""
