"""One end of a TCP conversation, to be started inside a host of a lab. Results are JSON lines; times are of the
monotonic clock, which all processes of a machine share.

    traffic.py sink ADDRESS BYTES            → {"port": …}, then of the first connection {"end": …}
    traffic.py send ADDRESS PORT BYTES       → {"segment": payload bytes of a full frame, "start": …}
    traffic.py echo ADDRESS BYTES COUNT      → {"port": …}; sends each message back
    traffic.py ping ADDRESS PORT BYTES COUNT → {"round_trips": [seconds, …]}
    traffic.py reach ADDRESS…                → {"reached": [ADDRESS, …]}
"""

import errno
import json
import socket
import sys
import time


def say(**words):
    print(json.dumps(words), flush=True)


def listen(address):
    with socket.create_server((address, 0)) as listener:
        listener.settimeout(30)
        say(port=listener.getsockname()[1])
        connection = listener.accept()[0]
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def connect(address, port):
    connection = socket.create_connection((address, port), timeout=30)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def receive(connection, count):
    view = memoryview(bytearray(min(count, 1 << 20)))
    while count:
        got = connection.recv_into(view[:count])
        if got == 0:
            raise ConnectionError("the other end closed the connection")
        count -= got


def sink(address, count):
    with listen(address) as connection:
        receive(connection, count)
        say(end=time.monotonic())


def send(address, port, count):
    with connect(address, port) as connection:
        message = bytes(count)
        say(segment=connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG), start=time.monotonic())
        connection.sendall(message)


def echo(address, size, count):
    with listen(address) as connection:
        for _ in range(count):
            receive(connection, size)
            connection.sendall(bytes(size))


def ping(address, port, size, count):
    message, times = bytes(size), []
    with connect(address, port) as connection:
        for _ in range(count):
            start = time.monotonic()
            connection.sendall(message)
            receive(connection, size)
            times.append(time.monotonic() - start)
    say(round_trips=times)


def reach(*addresses):
    """An answer is an answer, even that nobody listens."""
    reached = []
    for address in addresses:
        with socket.socket() as one:
            one.settimeout(5)
            if one.connect_ex((address, 1)) in (0, errno.ECONNREFUSED):
                reached.append(address)
    say(reached=reached)


if __name__ == "__main__":
    globals()[sys.argv[1]](*(int(word) if word.isdigit() else word for word in sys.argv[2:]))
