"""LightGBM behind LitServe.

python litserve_lightgbm.py MODEL PORT; needs `pip install litserve lightgbm`.
"""

import sys

import lightgbm
import litserve
import numpy as np


class RankAPI(litserve.LitAPI):  # type: ignore[misc]
    def setup(self, device):  # noqa: ARG002
        self.booster = lightgbm.Booster(model_file=sys.argv[1])

    def decode_request(self, request):
        return np.array(request["rows"], np.float32)

    def predict(self, rows):
        return self.booster.predict(rows, num_threads=1)

    def encode_response(self, scores):
        return {"order": np.argsort(-scores, kind="stable").tolist(), "scores": scores.tolist()}


if __name__ == "__main__":
    api = RankAPI(api_path="/v1/rank")
    litserve.LitServer(api, accelerator="cpu").run(
        host="127.0.0.1", port=int(sys.argv[2]), log_level="error", generate_client_file=False
    )
