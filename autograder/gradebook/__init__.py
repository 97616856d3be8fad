"""A class: its folder, its gradebook, and how a folder of hand-ins becomes grades in it.

    grading         grades a folder of hand-ins into a class
    classroom       the class: its configuration, its gradebook, and nbgrader's steps for one hand-in
    preprocessors   the course's parts of nbgrader's autograde
    counting        which of a student's tries counts
    update          late penalties and feedback pages, brought up to date from the gradebook
    returning       what goes back to Moodle and Canvas
    records         what an examination found, kept so that no hand-in is examined twice
    folder          where everything of a class lies

A grade takes one way: the hand-in that `intake` parsed is written to submitted/ and tidied once; `examination` gives a
record of it; notebook and record are handed on to nbgrader, which alone writes the gradebook.
"""
