"""From a lab's text in solutions/ to the notebook that students receive, and what is released to them.

Reads solutions/ and writes labs/. No student code is run here.
"""
