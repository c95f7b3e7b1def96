"""Asks the models' deployment; never waits for one that is away, and needs nothing but Python's own library."""

import os
import select
import time
from collections.abc import Callable, Mapping
from functools import cache, partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from urllib.parse import urlsplit

from torch import nn

from attention_core.bounds.limits import CLUSTER_SECONDS
from attention_core.serve.wire import function_name, pack, unpack

ADDRESS = "ATTENTION_RAY_ADDRESS"
OF_MODEL = "attention_core.serve.calls:of_model"
MAX_REPEATS = 2  # a call that was lost with the process that worked on it is made again so often: calls change nothing
PROBE_SECONDS, POLL_SECONDS = 1.3, 0.3
"""How long a sign of life may take, and after how long the next one is asked for while an answer is awaited."""
RETRY_AFTER_SECONDS = 5.0  # after which a deployment that was away is asked again


DOES_NOT_ANSWER, REFUSES = "does not answer", "refuses this app's token"
"""Of a deployment that is away."""


class AwayError(ConnectionError):
    """The deployment does not answer."""


class TokenError(AwayError):
    """The deployment refuses this token."""


class LostError(ConnectionError):
    """One call was lost, or failed there in a way that is none of the caller's making."""


class Cluster:
    """A deployment by its address."""

    def __init__(self, address: str, token: str | None = None) -> None:
        url = urlsplit(address if "//" in address else f"http://{address}")
        self.name, self._token = url.netloc, token or ray_token()  # the name is for people
        connection_class = HTTPSConnection if url.scheme == "https" else HTTPConnection
        self._connect = partial(connection_class, url.hostname or "", url.port, timeout=PROBE_SECONDS)
        self._away_until = self._answered_at = 0.0
        self._device, self.fault = "", DOES_NOT_ANSWER

    @property
    def is_away(self) -> bool:
        return time.monotonic() < self._away_until

    def probe(self) -> str:
        """Return what it computes on, in a few words; AwayError = it does not answer within PROBE_SECONDS."""
        deadline = time.monotonic() + PROBE_SECONDS
        while True:
            try:
                self._device = self._request("GET").decode()
                break
            except (OSError, HTTPException) as error:
                if isinstance(error, LostError) and time.monotonic() < deadline:  # a replica died: another answers
                    time.sleep(0.05)
                    continue
                self._away_until = time.monotonic() + RETRY_AFTER_SECONDS
                self.fault = REFUSES if isinstance(error, TokenError) else DOES_NOT_ANSWER
                raise AwayError(f"{self.name} {self.fault}: {error}") from error
        self._answered_at, self._away_until = time.monotonic(), 0.0
        return self._device

    def device(self) -> str:
        """As probe, but asked for once in RETRY_AFTER_SECONDS only."""
        if self.is_away:
            raise AwayError(f"{self.name} did not answer a moment ago")
        return self._device if time.monotonic() - self._answered_at < RETRY_AFTER_SECONDS else self.probe()

    def call(self, function: Callable[..., Any] | str, *args: Any, **kwargs: Any) -> Any:
        """Return what a function of the project, or of that name, returns there, or raise what it raises.

        What it does must change nothing. AwayError where the deployment does not answer, or did not a moment ago;
        LostError where the call was lost three times over, or failed there.
        """
        if self.is_away:
            raise AwayError(f"{self.name} did not answer a moment ago")
        name = function if isinstance(function, str) else function_name(function)
        body = pack((name, args, kwargs))
        for repeats_left in reversed(range(1 + MAX_REPEATS)):
            try:
                outcome, value = unpack(self._request("POST", body), local_model)
                break
            except TokenError:
                self.probe()
                raise
            except AwayError:
                raise
            except UnpicklingError as error:
                raise LostError(f"{self.name} is of another version: {error}") from error
            except (OSError, HTTPException) as error:
                self.probe()
                if not repeats_left:
                    raise LostError(f"{self.name} lost a call {1 + MAX_REPEATS} times: {error}") from error
        if outcome == "raised":
            raise value
        return value

    def _request(self, method: str, body: bytes = b"") -> bytes:
        connection = self._connect()
        try:
            connection.request(method, "/", body, {"Authorization": f"Bearer {self._token}"})
            if method == "POST":
                self._wait_for_answer(connection)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status == 401:
            raise TokenError(f"{self.name} asks for its token: see docs/deployment.md")
        if answer.status != 200:
            raise LostError(f"status {answer.status}")
        return content

    def _wait_for_answer(self, connection: HTTPConnection) -> None:
        """Wait until the answer begins, asking for signs of life meanwhile."""
        deadline = time.monotonic() + CLUSTER_SECONDS.maximum
        while not select.select([connection.sock], [], [], POLL_SECONDS)[0]:
            self.probe()
            if time.monotonic() > deadline:
                raise AwayError(f"{self.name} took more than {CLUSTER_SECONDS.maximum:.0f} seconds")


class RemoteModel:
    """A model of the deployment: what is asked of it is asked there, `model.trace(x)` as of the model itself."""

    def __init__(self, name: str, cluster: Cluster) -> None:
        self._name, self._cluster = name, cluster

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method.startswith("__"):
            raise AttributeError(method)
        return partial(self._cluster.call, OF_MODEL, self._name, method)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the model's prediction; of a batch alone, together with what others ask at the same moment."""
        return self._cluster.call(OF_MODEL, self._name, "__call__", *args, **kwargs)


def load(name: str, address: str | None = None) -> RemoteModel:
    """Return a trained model of a deployment; its address is that of ATTENTION_RAY_ADDRESS if none is given."""
    return RemoteModel(name, Cluster(address or os.environ[ADDRESS]))


@cache
def local_model(name: str) -> nn.Module:
    """Return this machine's copy of a model, whose parts are named by traces from the deployment."""
    from attention_core.models import load

    return load(name)


def ray_token(environment: Mapping[str, str] = os.environ) -> str:
    """Return Ray's token, or "", from where Ray looks for it: RAY_AUTH_TOKEN, file RAY_AUTH_TOKEN_PATH, ~/.ray."""
    if token := environment.get("RAY_AUTH_TOKEN"):
        return token.strip()
    file = Path(environment.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")
    return file.read_text(encoding="utf-8").strip() if file.is_file() else ""
