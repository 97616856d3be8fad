"""What a graded class gets to read: feedback pages, and for the instructor a summary, look-alikes and tables."""
