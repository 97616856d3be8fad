"""What is made of grades: feedback pages for students; summaries, similarity and tables for the instructor.

Reads what a class contains and runs nothing of it; every page treats text of students as hostile.
"""
