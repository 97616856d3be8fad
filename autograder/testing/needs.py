"""Marks for tests that need what not every machine has. Such a test is skipped; with CI=true a skip is a failure."""

import pytest

from autograder.examination import sandbox

needs_sandbox = pytest.mark.skipif(bool(sandbox.why_unavailable()), reason=sandbox.why_unavailable() or "")
