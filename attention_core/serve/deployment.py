"""The deployment: Ray Serve's replicas, each of which loads a model when it is first asked for."""

import asyncio
import hmac
from typing import Any

import torch
from starlette.requests import Request
from starlette.responses import Response

from attention_core.bounds.limits import CLUSTER_BYTES
from attention_core.device import choose_device, describe_device
from attention_core.serve import calls
from attention_core.serve.client import ray_token

MAX_ONGOING = 64  # calls that a replica holds; others wait in Serve's proxy
MAX_TOGETHER = 16
"""Calls for predictions that run as one batch, with no wait for them: those that came while another one ran."""


class ModelReplica:
    def __init__(self) -> None:
        from ray import serve

        torch.set_num_threads(1)
        self._token = ray_token()
        if not self._token:
            raise RuntimeError("Ray's token is not on this machine; docs/deployment.md says where it belongs")
        self._predict = serve.batch(max_batch_size=MAX_TOGETHER, batch_wait_timeout_s=0)(_predict)

    async def __call__(self, request: Request) -> Response:
        """Answer a sign of life (GET) or a call (POST)."""
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return Response(status_code=401)
        if request.method != "POST":
            return Response(describe_device(choose_device()))
        if int(request.headers.get("content-length", CLUSTER_BYTES.maximum + 1)) > CLUSTER_BYTES.maximum:
            return Response(status_code=413)
        call = await asyncio.to_thread(calls.read, await request.body())
        batch = calls.batch_of(call)
        value = await asyncio.to_thread(calls.run, call) if batch is None else await self._predict(batch)
        packed = await asyncio.to_thread(calls.answer, value)
        return Response(status_code=500) if packed is None else Response(packed)


async def _predict(batches: list[Any]) -> list[Any]:
    return await asyncio.to_thread(calls.predict, batches)


def start(replicas: int, cpus: float, gpus: float, host: str, port: int) -> None:
    """Run the replicas in the cluster that Ray finds, or in one of this machine, and return when they answer."""
    from ray import serve
    from ray.serve.schema import LoggingConfig

    serve.start(http_options={"host": host, "port": port})
    models = serve.deployment(ModelReplica).options(
        num_replicas=replicas,
        max_ongoing_requests=MAX_ONGOING,
        ray_actor_options={
            "num_cpus": cpus,
            "num_gpus": gpus,
            "runtime_env": {"env_vars": {"ATTENTION_RAY_ADDRESS": ""}},
        },
        logging_config=LoggingConfig(enable_access_log=False),
    )
    serve.run(models.bind(), name="attention")
