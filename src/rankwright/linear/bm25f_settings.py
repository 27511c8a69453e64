"""The name of BM25F as a ranker; its settings are a feature, which its file tells."""

from __future__ import annotations

from typing import ClassVar

from rankwright.settings.setting import settings_class
from rankwright.settings.shared import RankerSettings

NAME = "bm25f"


@settings_class
class BM25FScorerSettings(RankerSettings):
    """BM25F, whose weights of fields were tuned on judged queries; it looks at one feature, which the file tells."""

    name: ClassVar[str] = NAME
    chance: ClassVar[None] = None
