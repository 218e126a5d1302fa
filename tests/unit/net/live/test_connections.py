"""The pool of physical links, with real sockets on one event loop."""

import asyncio
import os
import resource
import socket
from collections import Counter
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import meshwright as mw
from meshwright.net.live import connections, link
from meshwright.net.live.codec import Codec
from meshwright.net.live.connections import Connections, Owner, Traffic
from meshwright.net.live.link import Hello, Kind, challenge_to, framed, hello_to, proof_to
from meshwright.net.live.sockets import Address
from tests.live_protocols import Note
from tests.patience import PATIENCE, soon

RUN = b"the run of tests"
LOOPBACK = Address("127.0.0.1", 0)


class Pools:
    """A pool for each node, and what became of messages: (source, target, number)."""

    def __init__(self):
        self.book, self.pools = {}, {}
        self.received, self.missed, self.lost, self.complaints = [], [], [], []

    async def add(self, node, address=LOOPBACK):
        owner = Owner(
            received=lambda source, note: self.received.append((source, node, note.number)),
            missed=lambda target, note: self.missed.append((node, target, note.number)),
            lost=lambda target, note: self.lost.append((node, target, note.number)),
            complain=lambda kind, words: self.complaints.append((kind, words)),
        )
        pool = Connections(node, RUN, Codec([Note]), self.book, owner)
        self.book[node] = pool.listen(address)
        self.pools[node] = pool
        return pool

    async def until(self, condition, what):
        await soon(condition, what)

    def settled(self):
        return len(self.received) + len(self.missed) + len(self.lost)


@asynccontextmanager
async def pools(count):
    """Pools of nodes 0 to count - 1, all gone afterwards with all that they had open."""
    before = open_files()
    net = Pools()
    try:
        for node in range(count):
            await net.add(node)
        yield net
    finally:
        await asyncio.gather(*(pool.close() for pool in net.pools.values()))
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert open_files() == before


def open_files():
    return len(os.listdir("/proc/self/fd"))


HEAD = len(framed(Kind.HOLD))


async def call(address, hello=None, run=RUN):
    """A connection to a node that takes the caller for another node: reader, writer, and what was sent."""
    hello = hello or hello_to(1, 0)
    reader, writer = await asyncio.open_connection(*address)
    said = [framed(Kind.HELLO, hello.body())]
    writer.write(said[0])
    async with asyncio.timeout(PATIENCE):
        challenge = (await reader.readexactly(HEAD + 48))[HEAD:]
    said.append(framed(Kind.PROOF, proof_to(challenge, hello, run)))
    writer.write(said[1])
    return reader, writer, said


async def answer_call(server, run=RUN):
    """Take a connection from a node, as the node that it wants; its socket."""
    loop = asyncio.get_running_loop()
    accepted, _ = await loop.sock_accept(server)
    hello = Hello.read((await received(accepted, HEAD + 32))[HEAD:])
    await loop.sock_sendall(accepted, framed(Kind.CHALLENGE, challenge_to(hello, run)))
    return accepted


async def received(accepted, count):
    data = b""
    async with asyncio.timeout(PATIENCE):
        while len(data) < count:
            data += await asyncio.get_running_loop().sock_recv(accepted, count - len(data))
    return data


def listening(**options):
    """A server that a test answers for."""
    server = socket.create_server(LOOPBACK)
    for name, value in options.items():
        server.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
    server.setblocking(False)
    return server


def run(scenario):
    return asyncio.run(scenario())


steps = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.integers(0, 3), st.integers(0, 3)),
        st.tuples(st.just("idle"), st.integers(0, 3), st.just(0)),
        st.tuples(st.just("turn"), st.integers(1, 4), st.just(0)),
    ),
    max_size=40,
)


@given(steps)
@settings(max_examples=60)
def test_every_message_comes_once_whoever_opens_and_closes_connections_and_when(taken):
    async def scenario():
        async with pools(4) as net:
            sent = []
            for number, (step, at, other) in enumerate(taken):
                if step == "send" and at != other:
                    net.pools[at].send(other, Note(number))
                    sent.append((at, other, number))
                elif step == "idle":
                    net.pools[at].close_idle(0.0)
                elif step == "turn":
                    for _ in range(at):
                        await asyncio.sleep(0)
            await net.until(lambda: net.settled() >= len(sent), "all messages arrive")
            assert sorted(net.received) == sorted(sent)
            await net.until(lambda: one_connection_a_pair(net), "connections are agreed on")

    run(scenario)


def one_connection_a_pair(net):
    """Both ends have the same peers, and no connection besides."""
    peers = {node: pool.peers for node, pool in net.pools.items()}
    mutual = all(node in peers[other] for node in peers for other in peers[node])
    return mutual and not any(pool._others or pool.opening for pool in net.pools.values())


def test_two_nodes_share_one_connection_for_both_directions():
    async def scenario():
        async with pools(2) as net:
            for number in range(10):
                net.pools[0].send(1, Note(number))
            await net.until(lambda: len(net.received) == 10, "ten messages")
            net.pools[1].send(0, Note(10))
            await net.until(lambda: len(net.received) == 11, "the answer")
            total = net.pools[0].traffic + net.pools[1].traffic
            frames = [framed(Kind.MESSAGE, Codec([Note]).written(Note(number))) for number in range(11)]
            handshake = 3 * HEAD + 32 + 48 + 32
            assert total == Traffic(11, handshake + sum(map(len, frames)), 1, 2)
            assert [number for _, _, number in net.received] == list(range(11))

    run(scenario)


def test_where_both_ends_open_one_that_of_the_smaller_id_stays():
    async def scenario():
        async with pools(2) as net:
            net.pools[1].send(0, Note(1))
            net.pools[0].send(1, Note(2))
            await net.until(lambda: len(net.received) == 2, "both messages")
            await net.until(lambda: one_connection_a_pair(net), "one is closed")
            assert [pool._links[1 - node].dialled for node, pool in net.pools.items()] == [True, False]

    run(scenario)


def test_a_connection_closes_when_neither_end_holds_it_and_opens_again_for_the_next_message():
    async def scenario():
        async with pools(2) as net:
            a, b = net.pools[0], net.pools[1]
            a.hold({1})
            await net.until(lambda: a.peers == {1} and b.peers == {0}, "a link that is held is opened")
            b.hold({0})
            await net.until(lambda: a._links[1].held_there and b._links[0].held_there, "both know")
            for releasing in (a, b):
                a.close_idle(0.0)
                b.close_idle(0.0)
                assert (a.peers, b.peers) == ({1}, {0})
                releasing.hold(set())
            await net.until(lambda: not (a._links[1].held_there or b._links[0].held_there), "both know")
            b.close_idle(60.0)
            assert b.peers == {0}
            b.close_idle(0.0)
            await net.until(lambda: not (a._links or a._others or b._links or b._others), "it is closed")
            b.send(0, Note(7))
            await net.until(lambda: net.received == [(1, 0, 7)], "the message comes")

    run(scenario)


def test_a_message_to_nobody_is_missed():
    async def scenario():
        async with pools(2) as net:
            await net.pools[1].close()
            net.pools[0].send(1, Note(1))
            net.pools[0].send(9, Note(2))
            assert net.missed == [(0, 9, 2)]
            await net.until(lambda: len(net.missed) == 2, "the other is missed too")
            assert net.missed[1] == (0, 1, 1)
            assert not net.complaints

    run(scenario)


def test_a_node_that_dies_breaks_its_connections_and_comes_back_under_another_address():
    async def scenario():
        async with pools(3) as net:
            net.pools[0].send(1, Note(1))
            net.pools[2].send(1, Note(2))
            await net.until(lambda: len(net.received) == 2, "both messages")
            await net.pools[1].close()
            await net.until(lambda: not (net.pools[0].peers or net.pools[2].peers), "they see it")
            await net.add(1)
            net.pools[0].send(1, Note(3))
            await net.until(lambda: len(net.received) == 3, "the new one hears")

    run(scenario)


def test_where_a_connection_ends_messages_go_over_one_that_the_other_end_has_opened():
    """Node 1 is played by hand: both ends have opened one, that of node 0 is in use, and breaks."""

    async def scenario():
        async with pools(1) as net:
            pool = net.pools[0]
            with listening() as server:
                net.book[1] = Address(*server.getsockname())
                pool.send(1, Note(1))
                dialled = await answer_call(server)
                await net.until(lambda: pool.peers == {1}, "its own connection is open")
                reader, writer, _ = await call(net.book[0])
                await net.until(lambda: any(other.peer == 1 for other in pool._others), "the other waits")
                assert pool._links[1].dialled
                dialled.close()
                await net.until(
                    lambda: not getattr(pool._links.get(1), "dialled", True), "it takes its place"
                )
                pool.send(1, Note(2))
                frame = framed(Kind.MESSAGE, Codec([Note]).written(Note(2)))
                async with asyncio.timeout(PATIENCE):
                    assert frame in await reader.readexactly(len(frame))
                assert (pool.traffic.opened, net.missed) == (1, [])
                writer.transport.abort()
                await asyncio.sleep(0)

    run(scenario)


def test_messages_to_a_node_that_does_not_read_are_dropped_before_they_fill_the_memory(monkeypatch):
    monkeypatch.setattr(link, "FULL", 20_000)

    async def scenario():
        async with pools(1) as net:
            with listening(SO_RCVBUF=4096) as server:
                net.book[1] = Address(*server.getsockname())
                net.pools[0].send(1, Note(0))
                deaf = await answer_call(server)
                await net.until(lambda: net.pools[0].peers == {1}, "it is open")
                for number in range(10**4000, 10**4000 + 20_000):
                    net.pools[0].send(1, Note(number))
                    if number % 10 == 0:
                        await asyncio.sleep(0)
                    if net.lost:
                        break
                assert net.lost
                assert net.pools[0]._links[1]._transport.get_write_buffer_size() < 40_000
                deaf.close()

    run(scenario)


@pytest.mark.parametrize("hello", [hello_to(1, 1), hello_to(7, 0)])
def test_strangers_are_cut_off_before_they_are_told_anything(hello):
    async def scenario():
        async with pools(2) as net:
            assert await answer(net.book[0], framed(Kind.HELLO, hello.body())) == b""
            assert (
                "a hello is not addressed to node 0, or not from a node of this run" in net.complaints[0][1]
            )
            assert not net.pools[0].peers

    run(scenario)


def test_a_hello_that_was_recorded_opens_nothing():
    async def scenario():
        async with pools(2) as net:
            _, writer, said = await call(net.book[0])
            writer.write(framed(Kind.MESSAGE, b'["Note",[5]]'))
            await net.until(lambda: net.received == [(1, 0, 5)], "the node itself is heard")
            writer.transport.abort()
            await net.until(lambda: not net.pools[0].peers, "and gone")
            said.append(framed(Kind.MESSAGE, b'["Note",[6]]'))
            heard = await answer(net.book[0], b"".join(said))
            assert len(heard) in (0, HEAD + 48)  # where the connection is cut before it is read, nothing
            assert "the program that calls itself node 1 is from another run" in net.complaints[0][1]
            assert (net.received, net.pools[0].peers) == ([(1, 0, 5)], set())

    run(scenario)


def test_the_run_never_crosses_a_socket():
    async def scenario():
        async with pools(1) as net:
            with listening() as server:
                net.book[1] = Address(*server.getsockname())
                net.pools[0].send(1, Note(1))
                accepted, _ = await net.pools[0]._loop.sock_accept(server)
                hello = await received(accepted, HEAD + 32)
                await net.pools[0]._loop.sock_sendall(
                    accepted, framed(Kind.CHALLENGE, challenge_to(Hello.read(hello[HEAD:]), RUN))
                )
                assert RUN not in hello + await received(accepted, HEAD + 32)
                accepted.close()

    run(scenario)


def test_a_listener_of_another_run_is_told_nothing_and_what_was_for_it_is_missed():
    async def scenario():
        async with pools(1) as net:
            with listening() as server:
                net.book[1] = Address(*server.getsockname())
                net.pools[0].send(1, Note(1))
                accepted = await answer_call(server, b"some other run..")
                await net.until(lambda: net.missed == [(0, 1, 1)], "it is missed")
                assert "the program that answers as node 1 is from another run" in net.complaints[0][1]
                assert await accepted_rest(accepted) == b""

    run(scenario)


async def accepted_rest(accepted):
    try:
        return await asyncio.get_running_loop().sock_recv(accepted, 1000)
    except ConnectionError:
        return b""
    finally:
        accepted.close()


@pytest.mark.parametrize(
    ("early", "words"),
    [
        (Kind.HELLO, "a HELLO has 1,048,576 bytes; it must have 32"),
        (Kind.MESSAGE, "a MESSAGE came, but only HELLO can come here"),
        (Kind.PROOF, "a PROOF came, but only HELLO can come here"),
    ],
)
def test_nothing_larger_than_a_hello_is_kept_of_who_has_not_proved_itself(early, words):
    async def scenario():
        async with pools(1) as net:
            head = framed(Kind.MESSAGE, bytes(1 << 20))[2:HEAD]
            assert await answer(net.book[0], framed(early)[:2] + head) == b""
            assert words in net.complaints[0][1]

    run(scenario)


def test_only_so_many_strangers_wait_and_the_oldest_goes_first(monkeypatch):
    monkeypatch.setattr(connections, "STRANGERS", 3)

    async def scenario():
        async with pools(2) as net:
            strangers = [await asyncio.open_connection(*net.book[0]) for _ in range(8)]
            async with asyncio.timeout(PATIENCE):
                for reader, _ in strangers[:3]:
                    assert await ending(reader) == b""
            await net.until(lambda: len(net.complaints) == 3, "all are told of")
            assert "more than 5 connections have not yet proved who they are" in net.complaints[0][1]
            assert len(net.pools[0]._strangers) == 5
            net.pools[1].send(0, Note(1))
            await net.until(lambda: net.received == [(1, 0, 1)], "a node gets through")
            for _, writer in strangers:
                writer.transport.abort()
            await net.until(lambda: not net.pools[0]._strangers, "none is left")

    run(scenario)


async def ending(reader):
    try:
        return await reader.read()
    except ConnectionError:
        return b""


@pytest.mark.parametrize("said", [b"", framed(Kind.HELLO, hello_to(1, 0).body())], ids=["nothing", "hello"])
def test_who_does_not_prove_itself_in_time_is_cut_off(monkeypatch, said):
    monkeypatch.setattr(link, "PATIENCE", 0.5)

    async def scenario():
        async with pools(2) as net:
            assert len(await answer(net.book[0], said)) == (HEAD + 48 if said else 0)
            assert "it did not prove who it is within 0.5 s" in net.complaints[0][1]

    run(scenario)


async def answer(address, data):
    """What a node says to some bytes until it closes the connection."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(data)
        async with asyncio.timeout(PATIENCE):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.transport.abort()
        await asyncio.sleep(0)


pieces = st.one_of(
    st.binary(max_size=30),
    st.builds(framed, st.sampled_from(Kind), st.binary(max_size=50)),
    st.just(framed(Kind.MESSAGE, b'["Note",[5]]')),
    st.just(framed(Kind.HELLO, hello_to(1, 0).body())),
)


@given(st.lists(st.tuples(st.booleans(), st.lists(pieces, max_size=5)), min_size=1, max_size=5))
@settings(max_examples=60)
def test_a_node_survives_any_bytes_and_hears_the_others_all_the_same(strangers):
    async def scenario():
        async with pools(3) as net:
            for known, said in strangers:
                if known:
                    _, writer, _ = await call(net.book[0])
                else:
                    _, writer = await asyncio.open_connection(*net.book[0])
                writer.write(b"".join(said))
                writer.close()
            net.pools[2].send(0, Note(42))
            net.pools[0].send(2, Note(43))
            await net.until(lambda: {(2, 0, 42), (0, 2, 43)} <= set(net.received), "the others are heard")
            assert {number for source, _, number in net.received if source == 1} <= {5}
            assert Counter(kind for kind, _ in net.complaints).keys() <= {"frame"}
            assert len(net.complaints) <= len(strangers)
            await net.until(lambda: not net.pools[0]._others, "strangers are gone")

    run(scenario)


def test_a_port_in_use_is_named_with_the_way_out():
    async def scenario():
        async with pools(1) as net:
            with pytest.raises(
                mw.NetworkError,
                match=rf"node 5 can't listen on 127.0.0.1:{net.book[0].port}: address already in use; "
                "give another port, or none",
            ):
                await net.add(5, net.book[0])

    run(scenario)


def test_a_node_that_finds_no_file_descriptor_complains_and_goes_on():
    async def scenario():
        async with pools(2) as net:
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            spare = socket.socket()
            resource.setrlimit(resource.RLIMIT_NOFILE, (spare.fileno(), hard))
            try:
                net.pools[0].send(1, Note(1))
                await net.until(lambda: net.missed, "it is missed")
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
                spare.close()
            assert "can't connect: too many open files; spread the nodes" in net.complaints[0][1]
            net.pools[0].send(1, Note(2))
            await net.until(lambda: net.received == [(0, 1, 2)], "the next comes through")

    run(scenario)
