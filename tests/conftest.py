"""What holds for every test."""

import signal


def pytest_configure():
    # What a shell runs in the background ignores SIGINT, and here tests press the interrupt button.
    signal.signal(signal.SIGINT, signal.default_int_handler)
