"""Pages labelled as they arrive: feeds, URL Tree, and the stream around both."""
