"""Shared by the tests of engines."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def without_torch(request):
    """Spare every prefork process the import of PyTorch, except where the prefork process itself is tested."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.module.__name__.endswith("test_prefork"):
            patch.setenv("COURSE_PREFORK_TORCH", "no")
        yield
