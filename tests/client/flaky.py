"""A proxy that loses answers: it passes a request on, waits for the answer, and hangs up."""

import socket
import threading
from contextlib import contextmanager


@contextmanager
def losing_answers(host, port, losses):
    """Give the URL of a proxy that loses the first answers, and then none."""
    left = [losses]
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=pass_on, args=(client,), daemon=True).start()

    def pass_on(client):
        with client, socket.create_connection((host, port)) as service:
            is_lossy = left[0] > 0
            left[0] -= 1
            back = threading.Thread(target=copy, args=(client, service), daemon=True)
            back.start()
            first = service.recv(65536)  # the service has done what it was asked
            if is_lossy:
                client.shutdown(socket.SHUT_RDWR)  # closing waits for the thread that reads it
                return
            client.sendall(first)
            copy(service, client)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.close()


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
