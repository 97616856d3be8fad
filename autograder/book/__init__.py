"""The book: what Sphinx needs to build `book/` offline into pages, decks of slides and a PDF.

`build` runs Sphinx, `extension` registers the rest with it. Reads solutions/ for what the guide's pages generate.
"""
