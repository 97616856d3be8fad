"""The linter and the formatter have nothing to say."""

import subprocess
import sys
from pathlib import Path

import pytest

CLONE = Path(__file__).parent.parent


@pytest.mark.parametrize("words", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_is_content(words):
    done = subprocess.run([sys.executable, "-m", "ruff", *words], cwd=CLONE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
