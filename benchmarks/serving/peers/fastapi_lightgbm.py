"""LightGBM behind FastAPI, as people write it: orjson for the body, one thread for the model.

python fastapi_lightgbm.py MODEL PORT; needs `pip install fastapi uvicorn uvloop orjson lightgbm`.
"""

import sys

import lightgbm
import numpy as np
import orjson
import uvicorn
from fastapi import FastAPI, Request, Response

booster = lightgbm.Booster(model_file=sys.argv[1])
app = FastAPI()


@app.post("/v1/rank")
async def rank(request: Request) -> Response:
    rows = np.array(orjson.loads(await request.body())["rows"], np.float32)
    scores = np.asarray(booster.predict(rows, num_threads=1))
    order = np.argsort(-scores, kind="stable")
    answer = {"order": order, "scores": scores}
    return Response(orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), loop="uvloop", log_level="error", access_log=False)
