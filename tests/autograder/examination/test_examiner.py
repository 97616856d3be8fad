"""The processes in which hand-ins are examined."""

import threading

import psutil

from autograder.examination import examiner


def test_the_examiner_of_a_thread_that_has_ended_is_ended_too():
    pids = []
    thread = threading.Thread(target=lambda: pids.append(examiner.get_examiner().process.pid))
    thread.start()
    thread.join()
    examiner.close_all()
    assert not psutil.pid_exists(pids[0])  # nor is it left as a zombie
