"""The models on another machine, or in other processes of this one: python -m attention_core.serve starts them.

    from attention_core.serve import load
    trace = load("pixel-classifier", "http://10.0.0.2:8000").trace(image)

client.py asks and knows nothing of Ray; deployment.py answers with Ray Serve; wire.py is what travels between them.
"""

from attention_core.serve.client import AwayError, Cluster, load

__all__ = ["AwayError", "Cluster", "load"]
