"""The workbench in a browser: one application for people, and another, on an origin of its own, for archived pages."""
