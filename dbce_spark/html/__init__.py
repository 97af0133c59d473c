"""A capture's HTML as a page: charset, blocks, tokens, metadata, language."""
