"""The table of what is mutated."""

from __future__ import annotations

from collections.abc import Mapping

from tests.fuzz.checkpoints import Checkpoints
from tests.fuzz.click_models import ClickModels
from tests.fuzz.collections import Collections
from tests.fuzz.data_files import DataFiles
from tests.fuzz.foreign import Foreign
from tests.fuzz.http_requests import HttpRequests, HttpWire
from tests.fuzz.judgment_files import JudgmentFiles
from tests.fuzz.models import Models
from tests.fuzz.specifications import Specifications
from tests.fuzz.studies import Studies
from tests.fuzz.subject import Subject
from tests.fuzz.text_indexes import TextIndexes

SUBJECTS: Mapping[str, Subject] = {
    "models": Models(),
    "checkpoints": Checkpoints(),
    "studies": Studies(),
    "foreign": Foreign(),
    "click-models": ClickModels(),
    "data": DataFiles(),
    "collections": Collections(),
    "specifications": Specifications(),
    "text-indexes": TextIndexes(),
    "judgments": JudgmentFiles(),
    "http": HttpRequests(),
    "http-wire": HttpWire(),
}
