"""LightGBM behind BentoML.

BENTO_MODEL=MODEL bentoml serve bentoml_lightgbm:RankService --port PORT; needs `pip install bentoml lightgbm`.
"""

import os

import bentoml
import lightgbm
import numpy as np


@bentoml.service(workers=1, traffic={"timeout": 30})
class RankService:
    def __init__(self) -> None:
        self.booster = lightgbm.Booster(model_file=os.environ["BENTO_MODEL"])

    @bentoml.api(route="/v1/rank")  # type: ignore[untyped-decorator]
    def rank(self, rows: list[list[float]]) -> dict[str, list[float]]:
        scores = np.asarray(self.booster.predict(np.array(rows, np.float32), num_threads=1))
        return {"order": np.argsort(-scores, kind="stable").tolist(), "scores": scores.tolist()}
