"""Pages and pictures of studies: a page and a picture for each, and an index with all verdicts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from meshwright.report.markup import Html, count, decimal, figure, section, table, tag
from meshwright.report.page import glossary, header, making, page, write_page
from meshwright.studies.catalogue import PAPERS, Curves, Study, studies
from meshwright.studies.claims import Finding, Scope, Verdict, explained
from meshwright.studies.drawing import Series, draw
from meshwright.studies.running import Row, write_rows
from meshwright.studies.tolerances import BOUNDS, SETTLED, TOLERANCES

_MARKS = {
    Verdict.REPRODUCED: "●",
    Verdict.DIFFERS: "□",
    Verdict.NOT_COMPARABLE: "·",
    Verdict.TOO_FEW_RUNS: "?",
}
_WORDS = {
    "Reproduced": "The 95% interval of our mean over the seeds lies within the tolerance, which was settled "
    "before the run.",
    "Differs": "It does not. Below are explanations, each tested by a variant.",
    "Not comparable": "The paper does not say enough to measure it again.",
    "Needs two runs": "One run has no interval, so it says neither.",
    "Variant": "The same statement and tolerance in another setting, to test an explanation. Variants are "
    "never counted. One explains a difference if it is reproduced, and a part of it if at most half of it is "
    "left.",
}


class Done(NamedTuple):
    """A study that was run."""

    study: Study
    rows: Sequence[Row]
    findings: Sequence[Finding]

    @property
    def drawn(self) -> list[Curves]:
        """The panels of which something was measured."""
        return [panel for panel in self.study.panels if self.series(panel)]

    def series(self, panel: Curves) -> Series:
        """What was measured for a panel."""
        own = self.study.after_series(panel)
        found: Series = {}
        for row in self.rows:
            if row.x is not None and row.name.endswith(own):
                found.setdefault(row.name.removesuffix(own), {}).setdefault(row.x, []).append(row.value)
        return found

    @property
    def counted(self) -> list[Finding]:
        """The findings that are no variants."""
        return [finding for finding in self.findings if not finding.claim.variant_of]

    @property
    def different(self) -> list[tuple[Finding, list[Finding]]]:
        """The claims that differ, each with the variants that test explanations."""
        return [
            (finding, [each for each in self.findings if each.claim.variant_of == finding.claim.name])
            for finding in self.counted
            if finding.verdict is Verdict.DIFFERS
        ]

    @property
    def remarkable(self) -> list[Finding]:
        """The others of which there is something to say: why not comparable, or what contradicts it."""
        return [
            finding
            for finding in self.counted
            if finding.claim.reason and finding.verdict is not Verdict.DIFFERS
        ]

    @property
    def variants(self) -> list[Finding]:
        """The findings that test reasons, or are in fitted settings."""
        return [finding for finding in self.findings if finding.claim.variant_of]


def write_site(folder: Path, done: Sequence[Done], about: Mapping[str, Any]) -> None:
    """Write data, pictures and pages of studies, an index, and the same for each paper in Markdown."""
    for name in ("data", "figures"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for one in done:
        write_rows(folder / "data" / f"{one.study.name}.parquet", one.rows)
        draw(
            f"{one.study.source}: {one.study.title}",
            [(panel, one.series(panel)) for panel in one.drawn],
            one.counted,
            folder / "figures" / one.study.name,
        )
        write_page(folder / f"{one.study.name}.html", _study_page(one, folder, about))
    for paper in dict.fromkeys(one.study.paper for one in done):
        own = [one for one in done if one.study.paper == paper]
        (folder / f"{paper}.md").write_text(_markdown(paper, own, about), "utf-8")
    found = [finding.to_json() | {"study": one.study.name} for one in done for finding in one.findings]
    text = json.dumps({**about, "findings": found}, indent=2, ensure_ascii=False)
    (folder / "findings.json").write_text(f"{text}\n", "utf-8")
    write_page(folder / "index.html", _index_page(done, about))
    (folder / "results.md").write_text(_markdown_index(done, about), "utf-8")
    (folder / "tolerances.md").write_text(tolerances(), "utf-8")


def tolerances() -> str:
    """All tolerances, the bounds that words were given, and which claim has which, in Markdown."""
    claims: dict[str, list[str]] = {}
    for study in studies().values():
        for claim in study.claims(Scope("paper", data="data")):
            if not claim.variant_of and (claim.measure or claim.pooled):
                claims.setdefault(claim.expected.within.kind, []).append(f"`{claim.name}`")
    kinds = [
        f"| {own.kind} | {100 * own.share:g}% | {own.rule} | {len(claims.get(own.kind, ()))} |"
        for own in TOLERANCES
    ]
    bounds = [f"| {words} | {own.number:g} | {own.rule} |" for words, own in BOUNDS.items()]
    parts = [
        "# Tolerances",
        "This is how far from the paper's number ours may be and still count as reproduced. All tolerances "
        "stand in one module, `meshwright.studies.tolerances`; a test fails where a claim brings one of its "
        "own.",
        SETTLED,
        "\n".join(["| kind of claim | tolerance | why so much | claims |", "| --- " * 4 + "|", *kinds]),
        "Some claims are about words that a paper puts no number to. These are the numbers of ours:",
        "\n".join(["| words | number | what it means |", "| --- " * 3 + "|", *bounds]),
        "## Claim by claim",
        *(
            f"{own.kind} ({100 * own.share:g}%): {', '.join(claims[own.kind])}."
            for own in TOLERANCES
            if own.kind in claims
        ),
    ]
    return "\n\n".join(parts) + "\n"


def warnings(about: Mapping[str, Any]) -> list[str]:
    """What a reader has to know before all verdicts."""
    if about.get("scale") != "smoke":
        return []
    return ["These are tiny systems, to see that everything runs (--scale smoke): the verdicts mean nothing."]


def verdicts(findings: Iterable[Finding]) -> str:
    """How many claims got which verdict: "5 reproduced, 2 differ"."""
    found = Counter(finding.verdict for finding in findings)
    words = {
        Verdict.REPRODUCED: "reproduced",
        Verdict.DIFFERS: "differ",
        Verdict.NOT_COMPARABLE: "not comparable",
        Verdict.TOO_FEW_RUNS: "need two runs",
    }
    words |= {one: one.value for one in (Verdict.DIFFERS, Verdict.TOO_FEW_RUNS) if found[one] == 1}
    return ", ".join(f"{found[verdict]} {word}" for verdict, word in words.items() if found[verdict])


def _index_page(done: Sequence[Done], about: Mapping[str, Any]) -> str:
    counted = [finding for one in done for finding in one.counted]
    tallies = Counter(finding.verdict for finding in counted)
    numbers = [(count(len(counted)), "claims"), *((count(tallies[one]), one.value) for one in tallies)]
    rows = [
        (
            tag("a", f"{one.study.source}: {one.study.title}", href=f"{one.study.name}.html"),
            PAPERS[one.study.paper].title,
            _marks(one.counted),
            verdicts(one.counted) or "no claims",
            verdicts(one.variants),
        )
        for one in done
    ]
    headings = ("table or figure", "paper", "claim by claim", "verdicts", "variants, not counted")
    notes = [tag("p", words) for words in (f"{_KEY}.", *warnings(about))]
    body = {
        "verdicts": section("verdicts", "Verdicts", *notes, table("Studies", headings, rows)),
        "tolerances": section(
            "tolerances",
            "Tolerances, settled before the run",
            table(
                "Tolerances",
                ("kind of claim", "tolerance", "why so much"),
                [(own.kind, f"{100 * own.share:g}%", own.rule) for own in TOLERANCES],
            ),
            table(
                "Words that a paper puts no number to",
                ("words", "number", "what it means"),
                [(words, f"{own.number:g}", own.rule) for words, own in BOUNDS.items()],
            ),
        ),
        "making": making(about),
        "reading": glossary(_WORDS),
    }
    return page("Studies", header("study", "The papers' tables and figures, run again", numbers), body)


_KEY = ", ".join(f"{mark} {verdict.value}" for verdict, mark in _MARKS.items())


def _marks(findings: Iterable[Finding]) -> str:
    """A mark for each claim."""
    return "".join(_MARKS[finding.verdict] for finding in findings)


def _study_page(one: Done, folder: Path, about: Mapping[str, Any]) -> str:
    title = f"{one.study.source}: {one.study.title}"
    svg = (folder / "figures" / f"{one.study.name}.svg").read_text("utf-8")
    picture = tag("div", Html(svg[svg.index("<svg") :]), class_="print")
    caption = f"{_caption(one)} Also as figures/{one.study.name}.png and .svg."
    numbers = [(count(len(one.counted)), "claims"), (verdicts(one.counted) or "none", "verdicts")]
    body = {
        "verdicts": section(
            "verdicts", "Verdicts", *(tag("p", words) for words in warnings(about)), _table(one.counted)
        ),
        "pictures": section("pictures", "Side by side", figure(picture, caption)),
        "reasons": _why(one),
        "how": section("how", "How it was measured", _ways(one.counted)),
        "variants": section("variants", "Variants, not counted", _table(one.variants))
        if one.variants
        else Html(""),
        "making": making({**about, "data": f"data/{one.study.name}.parquet"}),
        "reading": glossary(_WORDS),
    }
    return page(title, header("study", title, numbers), body)


def _why(one: Done) -> Html:
    """For each claim that differs, its explanations and what their tests say; and what can't be compared."""
    parts = []
    for finding, variants in one.different:
        mean, interval, _ = _ours(finding)
        words = f"{finding.claim.statement} Expected: {expected(finding)}; ours: {mean} ({interval})."
        rows = [_explanation(finding, variant) for variant in variants]
        parts += [
            tag("h3", finding.claim.name),
            tag("p", words),
            table(f"Explanations of {finding.claim.name}", _EXPLANATIONS, rows),
            *(tag("p", remark) for remark in _remarks(finding)),
        ]
    for finding in one.remarkable:
        parts += [tag("h3", finding.claim.name), tag("p", finding.claim.reason)]
    return section("reasons", "Why, where it differs", *parts) if parts else Html("")


def _remarks(finding: Finding) -> Iterable[str]:
    """What else is to say of a claim that differs."""
    if finding.is_undecided:
        yield "The mean is within the tolerance, and only its interval is not: more runs may decide."
    if finding.claim.reason:
        yield finding.claim.reason


_EXPLANATIONS = ("explanation", "ours if it were so", "what that says")


def _explanation(finding: Finding, variant: Finding) -> tuple[str, str, str]:
    mean, interval, _ = _ours(variant)
    return variant.claim.hypothesis, f"{mean} ({interval})", explained(finding, variant)


def _making(about: Mapping[str, Any]) -> str:
    """How it was made, in a sentence."""
    versions = ", ".join(f"{name} {version}" for name, version in about.get("versions", {}).items())
    return (
        f"Made by `meshwright {about.get('command')} --scale {about.get('scale')}` on {about.get('date')} "
        f"({about.get('machine')}; {about.get('processor_minutes')} minutes of processor time; {versions})."
    )


def _markdown(paper: str, done: Sequence[Done], about: Mapping[str, Any]) -> str:
    """The studies of a paper, for the documentation."""
    counted = [finding for one in done for finding in one.counted]
    parts = [
        f"# {PAPERS[paper].title}: results",
        f"{len(counted)} claims: {verdicts(counted)}. {_making(about)} The data is in `data/`.",
        *warnings(about),
        *(part for one in done for part in _markdown_study(one)),
    ]
    return "\n\n".join(parts) + "\n"


def _markdown_study(one: Done) -> Iterable[str]:
    yield f"## {one.study.source}: {one.study.title}"
    yield f"![{one.study.title}](figures/{one.study.name}.svg)"
    yield _caption(one)
    yield _rows(one.counted)
    for finding, variants in one.different:
        mean, interval, _ = _ours(finding)
        yield f"**Why `{finding.claim.name}` differs** ({expected(finding)}; ours {mean}, {interval}):"
        rows = [f"| {' | '.join(_explanation(finding, variant))} |" for variant in variants]
        yield "\n".join([f"| {' | '.join(_EXPLANATIONS)} |", "| --- " * 3 + "|", *rows])
        yield from _remarks(finding)
    yield from (
        f"`{finding.claim.name}` is {finding.verdict.value}: {finding.claim.reason}"
        if finding.verdict is Verdict.NOT_COMPARABLE
        else f"On `{finding.claim.name}`: {finding.claim.reason}"
        for finding in one.remarkable
    )
    measured = [finding.claim for finding in one.counted if finding.measured is not None]
    if measured:
        yield "How it was measured:"
        yield "\n".join(f"- `{claim.name}`: {claim.how}" for claim in measured)


def _markdown_index(done: Sequence[Done], about: Mapping[str, Any]) -> str:
    """All verdicts at a glance, for the documentation."""
    counted = [finding for one in done for finding in one.counted]
    rows = [
        f"| [{one.study.source}]({one.study.paper}.md) | {one.study.title} | {_marks(one.counted)} "
        f"| {verdicts(one.counted)} |"
        for one in done
    ]
    lines = [
        "# All verdicts",
        f"{len(counted)} claims: {verdicts(counted)}. {_making(about)}",
        *warnings(about),
        f"{_KEY}.",
        "\n".join(["| where | what | claim by claim | verdicts |", "| --- " * 4 + "|", *rows]),
    ]
    return "\n\n".join(lines) + "\n"


def _rows(findings: Sequence[Finding]) -> str:
    """Findings as a table in Markdown."""
    if not findings:
        return "The paper states nothing here that can be measured."
    lines = [
        "| claim | the paper states | expected | ours (95% interval) | runs | verdict |",
        "| --- " * 6 + "|",
    ]
    for finding in findings:
        mean, interval, runs = _ours(finding)
        ours = f"{mean} ({interval})" if mean else ""
        cells = (f"`{finding.claim.name}`", finding.claim.statement, expected(finding), ours, runs)
        lines.append(f"| {' | '.join(cells)} | {finding.verdict.value} |")
    return "\n".join(lines)


def _caption(one: Done) -> str:
    claims = (
        "Ours as a multiple of the paper's number, with the 95% interval of the mean. The line is the paper, "
        "the band the tolerance."
    )
    if not one.drawn:
        return claims
    return f"Above: {' '.join(_marked(one.drawn))} Below: {claims}"


def _marked(panels: Sequence[Curves]) -> Iterable[str]:
    """What is drawn in the panels of a figure."""
    if not all(panel.dots for panel in panels):
        yield "means over the seeds; bars reach from the least to the greatest."
    if any(panel.dots for panel in panels):
        yield "a dot for each that was looked at, of all seeds."
    if any(panel.stated for panel in panels):
        yield "Stars and dotted lines are the paper's values."
    if any(panel.related for panel in panels):
        yield (
            "Dotted curves and empty stars show where a curve would be by the ratio or the difference to "
            "another of ours that the paper states."
        )


def _table(findings: Sequence[Finding]) -> Html:
    headings = ("claim", "the paper states", "expected", "ours", "interval", "runs", "verdict")
    rows = [
        (
            finding.claim.name,
            f"{finding.claim.statement} ({finding.claim.source})",
            expected(finding),
            *_ours(finding),
            finding.verdict.value,
        )
        for finding in findings
    ]
    return table("Claims", headings, rows, {3, 5})


def expected(finding: Finding) -> str:
    """What was expected, with the tolerance."""
    own = finding.claim.expected
    share = f" (±{100 * own.tolerance:g}%)" if own.tolerance else ""
    return f"{own.relation} {decimal(own.number)}{share}"


def _ours(finding: Finding) -> tuple[str, str, str]:
    ours = finding.measured
    if ours is None:
        return "", "", ""
    interval = f"{decimal(ours.low)} to {decimal(ours.high)}"
    if finding.claim.pooled is not None:
        interval = f"{finding.claim.quantity} of all runs together"
    elif ours.runs < 2:
        interval = "one run has no interval"
    return decimal(ours.mean), interval, count(ours.runs)


def _ways(findings: Sequence[Finding]) -> Html:
    """How each claim was measured."""
    pairs = ((tag("dt", finding.claim.name), tag("dd", finding.claim.how)) for finding in findings)
    return tag("dl", *(part for pair in pairs for part in pair), class_="words")
