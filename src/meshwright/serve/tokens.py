"""Who may do what: tokens with roles, of which only hashes are on disk, and sessions of the page."""

import hmac
import json
import os
import secrets
import time
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from meshwright.model.events import check_name
from meshwright.model.storage.dataset import writing
from meshwright.runtime.atomic_files import locked_folder, make_folder, renaming, sync_file, sync_folder
from meshwright.runtime.errors import DatasetError, InputError, OptionError
from meshwright.runtime.owned import is_plain, read_plain
from meshwright.runtime.wording import choose

READ, WRITE, APPLY = "read", "write", "apply"
ROLES = (READ, WRITE, APPLY)
_PREFIX = "mw_"
_BYTES = 32
SESSION_SECONDS = 12 * 3600
_MOST_SESSIONS = 1_000
_LONGEST_NAME = 200


class Token(NamedTuple):
    """What is known of a token: not the token itself, but its hash.

    Attributes:
        id: by which people name it, in the audit log and when they revoke it.
        name: whose it is.
        roles: what it may do; write includes read.
        hash: SHA-256, in hexadecimal digits. The token is 256 random bits, so it can't be guessed from it.
        made: when, in seconds since 1970.
        expires: when it ends; None for never.
        parent: for a session, the id of the token that it was made by.
    """

    id: str
    name: str
    roles: tuple[str, ...]
    hash: str
    made: int
    expires: int | None = None
    parent: str | None = None

    def may(self, role: str) -> bool:
        """Whether the token has a role; whoever may change something may read."""
        return role in self.roles or (role == READ and bool(self.roles))


def check_roles(roles: Iterable[str]) -> tuple[str, ...]:
    """The roles in their order; what is none is refused."""
    given = set(roles)
    for role in sorted(given):
        if role not in ROLES:
            raise OptionError(f"the role is {role!r}; {choose(role, ROLES)}", option="--role")
    if not given:
        raise OptionError(f"a token needs a role; give one of {', '.join(ROLES)}", option="--role")
    return tuple(role for role in ROLES if role in given)


def hash_of(secret: str) -> str:
    """The hash of a token."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class TokenFile:
    """Tokens in a file that several processes may read and change; only its owner can read it.

    Guarantee: a change is on disk, whole, when the call returns, and other processes see it at their next
    look. Cost of a look: one `stat`, unless the file has changed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, ...] | None = None
        self._tokens: tuple[Token, ...] = ()
        self._lock = Lock()

    def tokens(self) -> tuple[Token, ...]:
        """All tokens, as they are on disk now."""
        with self._lock:
            try:
                found = os.stat(self._path, follow_symlinks=False)
            except FileNotFoundError:
                self._seen, self._tokens = None, ()
                return ()
            seen = (found.st_ino, found.st_mtime_ns, found.st_size)
            if seen != self._seen:
                self._tokens = _read(self._path)
                self._seen = seen
            return self._tokens

    def change(self, work: Callable[[list[Token]], None]) -> None:
        """Change the list of tokens; whoever changes it at the same time waits."""
        folder = self._path.parent
        with writing(folder):
            make_folder(folder.parent)
            if not folder.is_dir():
                os.mkdir(folder, 0o700)
                sync_folder(folder.parent)
        with locked_folder(folder, "", wait=True):
            tokens = list(self.tokens())
            work(tokens)
            with writing(self._path):
                _write(self._path, tokens)

    def matching(self, secret: str) -> Token | None:
        """The token of a secret, if it is one and has not ended. All are compared, in constant time each."""
        wanted, match = hash_of(secret), None
        for token in self.tokens():
            if hmac.compare_digest(token.hash, wanted):
                match = token
        if match is not None and match.expires is not None and match.expires <= time.time():
            return None
        return match


def _read(path: Path) -> tuple[Token, ...]:
    with _damaged(path):
        rows = json.loads(read_plain(path))["tokens"]
        return tuple(Token(**{**row, "roles": check_roles(row["roles"])}) for row in rows)


@contextmanager
def _damaged(path: Path) -> Any:
    try:
        yield
    except (ValueError, KeyError, TypeError, OptionError) as error:
        raise DatasetError(
            f"{path} is damaged: {error}; restore it from a backup, or remove it and make new tokens"
        ) from None


def _write(path: Path, tokens: list[Token]) -> None:
    is_plain(path)
    rows = [token._asdict() for token in tokens]
    with renaming(path) as partial:
        file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(file, "w", encoding="utf-8") as stream:
            json.dump({"tokens": rows}, stream, indent=1)
        sync_file(partial)
    sync_folder(path.parent)


def _new(name: str, roles: tuple[str, ...], expires: int | None = None, parent: str | None = None) -> Any:
    secret = _PREFIX + secrets.token_urlsafe(_BYTES)
    token = Token(secrets.token_hex(4), name, roles, hash_of(secret), int(time.time()), expires, parent)
    return token, secret


class Access:
    """The tokens of a state, and the sessions that the page has made with them."""

    def __init__(self, folder: Path) -> None:
        self._tokens = TokenFile(folder / "tokens.json")
        self._sessions = TokenFile(folder / "sessions.json")

    def tokens(self) -> tuple[Token, ...]:
        """All tokens, without sessions."""
        return self._tokens.tokens()

    def add(self, name: str, roles: Iterable[str]) -> tuple[Token, str]:
        """Make a token; its secret is nowhere else."""
        check_name(name, "the name of a token")
        if len(name) > _LONGEST_NAME or not name.isprintable():
            raise InputError(f"the name of a token has at most {_LONGEST_NAME} printable characters")
        token, secret = _new(name, check_roles(roles))
        self._tokens.change(lambda tokens: tokens.append(token))
        return token, secret

    def add_first(self) -> tuple[Token, str] | None:
        """Make a token with all roles if there is none yet."""
        return None if self._tokens.tokens() else self.add("first", ROLES)

    def revoke(self, key: str) -> Token:
        """Revoke a token by its id; sessions that were made with it end too."""
        found = [token for token in self._tokens.tokens() if token.id == key]
        if not found:
            raise InputError(f"there is no token with the id {key!r}; `meshwright token list` shows all")
        self._tokens.change(lambda tokens: tokens.remove(found[0]))
        return found[0]

    def who(self, secret: str) -> Token | None:
        """The token of a secret, sent in a header; None if it is none."""
        return self._tokens.matching(secret)

    def begin_session(self, token: Token) -> str:
        """Make a session with the roles of a token; the oldest ends where there are too many."""
        now = time.time()
        session, secret = _new(token.name, token.roles, int(now) + SESSION_SECONDS, token.id)

        def work(sessions: list[Token]) -> None:
            sessions[:] = [own for own in sessions if (own.expires or 0) > now][1 - _MOST_SESSIONS :]
            sessions.append(session)

        self._sessions.change(work)
        return str(secret)

    def end_session(self, secret: str) -> None:
        """End a session, if there is one."""
        session = self._sessions.matching(secret)
        if session is not None:
            self._sessions.change(lambda sessions: sessions.remove(session) if session in sessions else None)

    def who_in_session(self, secret: str) -> Token | None:
        """The token that a session was made with, if neither has ended."""
        session = self._sessions.matching(secret)
        if session is None:
            return None
        return next((token for token in self._tokens.tokens() if token.id == session.parent), None)
