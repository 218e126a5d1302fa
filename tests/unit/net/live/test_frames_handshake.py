"""Two ends that know the same run believe each other, and nobody else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.net.live.link import Hello, challenge_to, check_proof, hello_to, proof_to

RUN = b"the run of tests"
ids = st.integers(0, 2**64 - 1)
bits = st.integers(0, 255)


@given(ids, ids, st.binary(min_size=16, max_size=16))
def test_a_hello_is_read_as_it_was_written(source, target, nonce):
    hello = Hello(source, target, nonce)
    assert Hello.read(hello.body()) == hello
    assert len(hello.body()) == 32


@given(ids, ids)
def test_ends_of_one_run_believe_each_other(source, target):
    hello = hello_to(source, target)
    challenge = challenge_to(hello, RUN)
    check_proof(proof_to(challenge, hello, RUN), challenge, hello, RUN)


def test_no_nonce_comes_twice_and_the_run_is_in_nothing_that_is_sent():
    hello = hello_to(1, 2)
    challenge = challenge_to(hello, RUN)
    sent = hello.body() + challenge + proof_to(challenge, hello, RUN)
    assert hello.nonce != hello_to(1, 2).nonce
    assert challenge[:16] != challenge_to(hello, RUN)[:16]
    assert RUN not in sent


@given(bits)
def test_a_challenge_that_differs_in_one_bit_is_refused(bit):
    hello = hello_to(1, 2)
    with pytest.raises(mw.InputError, match="the program that answers as node 2 is from another run"):
        proof_to(flipped(challenge_to(hello, RUN), bit), hello, RUN)


@given(bits)
def test_a_proof_that_differs_in_one_bit_is_refused(bit):
    hello = hello_to(1, 2)
    challenge = challenge_to(hello, RUN)
    proof = proof_to(challenge, hello, RUN)
    with pytest.raises(mw.InputError, match="the program that calls itself node 1 is from another run"):
        check_proof(flipped(proof, bit), challenge, hello, RUN)


def test_a_proof_fits_no_other_challenge_role_or_node():
    hello = hello_to(1, 2)
    challenge = challenge_to(hello, RUN)
    proof = proof_to(challenge, hello, RUN)
    for other in (
        (proof, challenge_to(hello, RUN), hello),
        (challenge[16:], challenge, hello),
        (proof, challenge, hello._replace(source=3)),
    ):
        with pytest.raises(mw.InputError, match="is from another run"):
            check_proof(*other, RUN)


def flipped(data, bit):
    return data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :]
