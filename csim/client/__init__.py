"""A client of the service, for your own programs: `Client`, or `AsyncClient` for asyncio.

    from csim.client import Client

    with Client("http://127.0.0.1:8000") as client:
        for decision in client.images.send({"a.png": open("a.png", "rb").read()}):
            print(decision["decision"], decision["class"])

Both repeat a request that failed on the way, or when the service is busy. That is safe: images have
ids, and answers and edits have keys, so the service does each once.
"""

from csim.client.asynchronous import AsyncClient
from csim.client.blocking import Client
from csim.client.calls import ServiceError

__all__ = ["AsyncClient", "Client", "ServiceError"]
