"""The error of a board that refuses a request."""

from course.errors import Problem


class RequestRefused(Problem):
    """The board refuses a request. `status` is the HTTP status of the answer."""

    def __init__(self, message, status=422):
        super().__init__(message)
        self.status = status
