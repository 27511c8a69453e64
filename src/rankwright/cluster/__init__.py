"""Many tasks at a time, on threads, on processes of this machine or on a Ray cluster: one small interface.

Engines do not know what a task does: it is a function of a module, called with a value that all tasks share and with
one of its own.
"""
