# The compiled module. Its kernels have the signatures of their twins in `reference.py`, which a test checks.
_assertions: bool

def __getattr__(name: str) -> object: ...
