"""Clients of MQTT 3.1.1 and NATS: as much of the protocols as it takes to publish, subscribe and count."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections import Counter
from contextlib import suppress


class Client(ABC):
    """A connection that hears the messages at its broker, and counts copies by payload and name."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._listening: asyncio.Task[None] | None = None
        self.heard: dict[bytes, Counter[str]] = {}

    @classmethod
    async def connect(cls, port: int, user: str | None = None, listens: str | None = None) -> "Client":
        """A client whose subscription, to all names if none are given, is in force at the broker.

        The broker is on this port of loopback.
        """
        client = cls(*await asyncio.open_connection("127.0.0.1", port))
        await client._subscribe(user, listens)
        client._listening = asyncio.create_task(client._listen())
        return client

    @abstractmethod
    async def _subscribe(self, user: str | None, listens: str | None) -> None: ...

    @abstractmethod
    async def _next(self) -> tuple[str, bytes]:
        """The name and the payload of the next message."""

    @abstractmethod
    def publish(self, name: str, payload: bytes) -> None: ...

    async def _listen(self) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                name, payload = await self._next()
                self.heard.setdefault(payload, Counter())[name] += 1

    async def close(self) -> None:
        if self._listening:
            self._listening.cancel()
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


# Names that # passes over, of meshes that share them.
_WITH_DOLLAR = ("$foo/#", "$SYS/broker/connection/x/state")


class MqttClient(Client):
    """All at QoS 0, so that no packet wants an answer."""

    async def _subscribe(self, user: str | None, listens: str | None) -> None:
        assert user is None, "the brokers of the meshes ask no MQTT client who it is"
        nobody = _string("")
        self._send(0x10, _string("MQTT") + bytes([4, 2]) + (0).to_bytes(2) + nobody)
        kind, body = await self._packet()
        assert (kind, body[1]) == (0x20, 0), f"refused: {body!r}"
        names = ("#", *_WITH_DOLLAR) if listens is None else (listens,)
        wanted = b"".join(_string(each) + b"\0" for each in names)
        self._send(0x82, (1).to_bytes(2) + wanted)
        while kind != 0x90:
            kind, body = await self._packet()

    def publish(self, name: str, payload: bytes) -> None:
        self._send(0x30, _string(name) + payload)

    async def _next(self) -> tuple[str, bytes]:
        while True:
            kind, body = await self._packet()
            if kind & 0xF0 == 0x30:
                end = 2 + int.from_bytes(body[:2])
                return body[2:end].decode(), body[end:]

    def _send(self, kind: int, body: bytes) -> None:
        self._writer.write(bytes([kind]) + _length(len(body)) + body)

    async def _packet(self) -> tuple[int, bytes]:
        kind, length = (await self._reader.readexactly(1))[0], 0
        for shift in range(0, 28, 7):
            digit = (await self._reader.readexactly(1))[0]
            length |= (digit & 0x7F) << shift
            if digit < 0x80:
                break
        return kind, await self._reader.readexactly(length)


def _string(text: str) -> bytes:
    return len(text.encode()).to_bytes(2) + text.encode()


def _length(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])


class NatsClient(Client):
    """A user's password is the user's name."""

    async def _subscribe(self, user: str | None, listens: str | None) -> None:
        who = {"user": user, "pass": user} if user else {}
        options = {"verbose": False, "pedantic": False, **who}
        words = json.dumps(options).encode(), (listens or ">").encode()
        self._writer.write(b"CONNECT %s\r\nSUB %s 1\r\nPING\r\n" % words)
        while (line := await self._reader.readline()) != b"PONG\r\n":
            assert line.startswith(b"INFO"), f"refused: {line!r}"

    def publish(self, name: str, payload: bytes) -> None:
        self._writer.write(b"PUB %s %d\r\n%s\r\n" % (name.encode(), len(payload), payload))

    async def _next(self) -> tuple[str, bytes]:
        while True:
            verb, *words = (await self._reader.readuntil(b"\r\n")).split()
            if verb == b"PING":
                self._writer.write(b"PONG\r\n")
            if verb == b"MSG":
                payload = await self._reader.readexactly(int(words[-1]))
                await self._reader.readexactly(2)
                return words[0].decode(), payload


CLIENTS: dict[str, type[Client]] = {"mosquitto": MqttClient, "nats": NatsClient}
