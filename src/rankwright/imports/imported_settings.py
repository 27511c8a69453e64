"""What is kept of where an imported forest came from."""

from __future__ import annotations

from typing import ClassVar

from rankwright.settings.setting import setting, settings_class
from rankwright.settings.shared import RankerSettings


@settings_class
class ImportedForestSettings(RankerSettings):
    """Boosted or averaged trees that another tool trained.

    Parameters
    ----------
    source
        The format that the trees were read from.
    any_width
        Whether documents may have more or fewer features than the trees use: where the format does not tell how many
        there are, features beyond those used are not looked at, and those that lack are 0.
    """

    name: ClassVar[str] = "imported-forest"
    chance: ClassVar[None] = None

    source: str = setting("")
    any_width: bool = setting(False)
