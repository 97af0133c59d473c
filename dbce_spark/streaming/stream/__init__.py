"""The stream without the engine that runs it: pages are labelled as they arrive, by DBCE or by URL Tree."""
