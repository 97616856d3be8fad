"""What stands in a task or a written answer until the student begins it, in this edition and in earlier ones."""

CODE = '# YOUR CODE HERE\nraise NotImplementedError("this task is still empty: replace this line by your own.")'
ANSWER = "*Double-click here and write your answer in place of this line.*"
EARLIER_ANSWERS = ("YOUR ANSWER HERE",)


def is_empty_answer(text):
    """Whether a written answer holds nothing but the line that says where to write."""
    return text.strip() in ("", ANSWER, *EARLIER_ANSWERS)
