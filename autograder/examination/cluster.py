"""A cluster of ipyparallel's on whose engines student code is examined: connects to it, and notices that it has ended.

Its own launchers start it, under a profile. Touches nothing else.
"""

import threading

from course.errors import Problem

SECONDS_TO_ANSWER = 60  # for the controller, on a busy machine


def connect(profile, then):
    """Return an `ipyparallel.Client` of the cluster that runs under this profile, with one engine at least.

    then: a sentence on what follows when the cluster runs. Raises Problem if there is no such cluster or engine.
    """
    import ipyparallel  # slow

    try:
        client = ipyparallel.Client(profile=profile, timeout=30)
    except (OSError, ipyparallel.error.TimeoutError) as error:
        raise Problem(
            f"no cluster runs under the profile {profile} ({error}): start one, for example with `ipcluster start "
            f"--profile={profile} --n=8`. {then}"
        ) from error
    try:
        client.wait_for_engines(1, timeout=SECONDS_TO_ANSWER)
    except ipyparallel.error.TimeoutError:
        client.close()
        raise Problem(f"the cluster under the profile {profile} has no engines: start some. {then}") from None
    return client


def check(client, profile):
    """Raise Problem if the controller does not answer, or has no engines left: calls would wait forever."""
    answered = threading.Event()

    def ask():
        client.queue_status()
        answered.set()

    threading.Thread(target=ask, daemon=True).start()  # without an answer it does not end
    if not answered.wait(SECONDS_TO_ANSWER) or not client.ids:
        raise Problem(f"the cluster under the profile {profile} has ended: start it again, then run the command again.")
