"""Label pages as they arrive: the stream around URL Tree, without the engine that runs it."""
