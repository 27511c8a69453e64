"""The colours of pictures, written once for all of them."""

from __future__ import annotations

INK, FAINT = "#22272e", "#d0d7de"
COLOURS = ("#0b6bcb", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#be185d")
