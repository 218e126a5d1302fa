"""A page as a test sees it: its elements, and whether all of them are closed."""

from html.parser import HTMLParser

VOID = {"meta", "img", "br", "col", "link", "input", "hr"}


class Page(HTMLParser):
    """Reads a page; a tag that is not closed, or closed in the wrong order, is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), (tag, names)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}

    def values(self, attribute: str) -> list[str]:
        return [found[attribute] or "" for _, found in self.elements if attribute in found]
