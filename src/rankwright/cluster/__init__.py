"""Many tasks at a time, on threads, on processes of this machine or on a Ray cluster: one small interface.

What a task is, the engines do not know: a function of a module, a value that all tasks share, and a value of its own.
"""
