"""What was handed in: found, attributed to a student and a lab, and brought into a form that can be graded.

The way of a hand-in; each module uses those below it:

    collect     finds all hand-ins in a folder or archive, and brings them into a class
    sorting     entries of a folder or archive become students' tries, or stray lines
    tries       all tries are kept; one of them counts
    worksheets  Moodle's and Canvas's tables of grades, which come back filled in
    roster      which student a name stands for (students.csv)
    layouts     what a path says: Moodle, Canvas, nbgrader's exchange, `course hand-in`
    identify    which lab a notebook belongs to
    times       when it was handed in
    archives    lists folders and archives, whatever they claim
    reading     gets a notebook out of whatever file was handed in

    tidy        brings the cells of a hand-in back into the form of its lab

Nothing that was handed in is trusted: neither names nor paths, sizes, JSON or metadata. Nothing is run here.
"""
