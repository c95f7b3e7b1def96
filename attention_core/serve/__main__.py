"""Answer for the models with Ray Serve: python -m attention_core.serve [--replicas N --gpus SHARE --port N].

The cluster is that of RAY_ADDRESS, or one that starts here. Whoever asks has to know Ray's token; docs/deployment.md.
"""

import argparse
import os
import signal
import sys


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m attention_core.serve", description=__doc__)
    parser.add_argument("--replicas", type=int, default=1)
    parser.add_argument("--cpus", type=float, default=1, help="of each replica; a fraction is allowed (1)")
    parser.add_argument("--gpus", type=float, default=0, help="of each replica, such as 0.25 (0)")
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 = reachable from other machines")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if os.environ.get("RAY_AUTH_MODE") == "disabled":
        print("error: RAY_AUTH_MODE=disabled would let anybody run code in the cluster", file=sys.stderr)
        return 1
    os.environ["RAY_AUTH_MODE"] = "token"
    try:
        import ray

        from attention_core.serve.deployment import start
    except ImportError:
        print("error: Ray is missing: pip install -r requirements-cluster.txt", file=sys.stderr)
        return 1
    local = {} if os.environ.get("RAY_ADDRESS") else {"include_dashboard": False}
    ray.init(log_to_driver=False, configure_logging=False, **local)
    try:
        start(**vars(options))
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # Ray has put its own in place
        print(f"{options.replicas} replicas answer on http://{options.host}:{options.port}; Ctrl-C stops", flush=True)
        signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        ray.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
