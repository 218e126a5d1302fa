"""Pages and pictures of studies: a page and a picture for each, and an index with all verdicts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from meshwright.report.markup import Html, count, decimal, figure, section, table, tag
from meshwright.report.page import glossary, header, making, page, write_page
from meshwright.studies.catalogue import PAPERS, Study
from meshwright.studies.claims import Finding, Verdict, explained
from meshwright.studies.running import Row, write_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The palette of Okabe and Ito, which colour-blind readers can tell apart; in print, markers and dashes do.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES: tuple[Literal["-", "--", ":", "-."], ...] = ("-", "--", ":", "-.")
_BY_VERDICT = {Verdict.REPRODUCED: (_COLOURS[0], "o"), Verdict.DIFFERS: (_COLOURS[1], "s")}
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.linewidth": 0.4,
    "svg.hashsalt": "meshwright",
    "svg.fonttype": "none",
    "legend.frameon": False,
}
_MARKS = {Verdict.REPRODUCED: "●", Verdict.DIFFERS: "□", Verdict.NOT_COMPARABLE: "·"}
_WORDS = {
    "Reproduced": "The 95% interval of our mean over the seeds lies within the tolerance, which was settled "
    "before the run.",
    "Differs": "It does not. Below are explanations, each tested by a variant.",
    "Not comparable": "The paper does not say enough to measure it again.",
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
    def variants(self) -> list[Finding]:
        """The findings that test reasons, or are in fitted settings."""
        return [finding for finding in self.findings if finding.claim.variant_of]


def write_site(folder: Path, done: Sequence[Done], about: Mapping[str, Any]) -> None:
    """Write data, pictures and pages of studies, an index, and the same for each paper in Markdown."""
    for name in ("data", "figures"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for one in done:
        write_rows(folder / "data" / f"{one.study.name}.parquet", one.rows)
        _draw(one, folder / "figures" / one.study.name)
        write_page(folder / f"{one.study.name}.html", _study_page(one, folder, about))
    for paper in dict.fromkeys(one.study.paper for one in done):
        own = [one for one in done if one.study.paper == paper]
        (folder / f"{paper}.md").write_text(_markdown(paper, own, about), "utf-8")
    found = [finding.to_json() | {"study": one.study.name} for one in done for finding in one.findings]
    text = json.dumps({**about, "findings": found}, indent=2, ensure_ascii=False)
    (folder / "findings.json").write_text(f"{text}\n", "utf-8")
    write_page(folder / "index.html", _index_page(done, about))
    (folder / "results.md").write_text(_markdown_index(done, about), "utf-8")


def verdicts(findings: Iterable[Finding]) -> str:
    """How many claims got which verdict: "5 reproduced, 2 differ"."""
    found = Counter(finding.verdict for finding in findings)
    words = {
        Verdict.REPRODUCED: "reproduced",
        Verdict.DIFFERS: "differ",
        Verdict.NOT_COMPARABLE: "not comparable",
    }
    words |= {Verdict.DIFFERS: "differs"} if found[Verdict.DIFFERS] == 1 else {}
    return ", ".join(f"{found[verdict]} {word}" for verdict, word in words.items() if found[verdict])


def _index_page(done: Sequence[Done], about: Mapping[str, Any]) -> str:
    counted = [finding for one in done for finding in one.counted]
    tallies = Counter(finding.verdict for finding in counted)
    numbers = [(count(len(counted)), "claims"), *((count(tallies[one]), one.value) for one in Verdict)]
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
    key = tag("p", f"{_KEY}.")
    body = {
        "verdicts": section("verdicts", "Verdicts", key, table("Studies", headings, rows)),
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
        "verdicts": section("verdicts", "Verdicts", _table(one.counted)),
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
    for finding in one.counted:
        if finding.verdict is Verdict.NOT_COMPARABLE:
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
        f"`{finding.claim.name}` is not comparable: {finding.claim.reason}"
        for finding in one.counted
        if finding.verdict is Verdict.NOT_COMPARABLE
    )


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
    if one.study.curves is None:
        return claims
    stars = " Stars are the paper's values." if one.study.curves.stated else ""
    return f"Above: means over the seeds; bars reach from the least to the greatest.{stars} Below: {claims}"


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
    relation, number, tolerance = finding.claim.expected
    return f"{relation} {decimal(number)}" + (f" (±{100 * tolerance:g}%)" if tolerance else "")


def _ours(finding: Finding) -> tuple[str, str, str]:
    ours = finding.measured
    if ours is None:
        return "", "", ""
    return decimal(ours.mean), f"{decimal(ours.low)} to {decimal(ours.high)}", count(ours.runs)


def _ways(findings: Sequence[Finding]) -> Html:
    """How each claim was measured."""
    pairs = ((tag("dt", finding.claim.name), tag("dd", finding.claim.how)) for finding in findings)
    return tag("dl", *(part for pair in pairs for part in pair), class_="words")


def _draw(one: Done, path: Path) -> None:
    """Draw the curves of a study, and its claims beside the paper's numbers, as SVG and PNG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    shown = [found for found in one.counted if found.measured is not None and found.claim.expected.number]
    heights = [3.0] * (one.study.curves is not None) + [0.7 + 0.26 * len(shown)] * bool(shown)
    with mpl.rc_context(_STYLE):
        drawn = Figure(figsize=(7.2, max(1.0, sum(heights))), layout="constrained")
        panels = list(drawn.subplots(len(heights) or 1, height_ratios=heights or [1], squeeze=False)[:, 0])
        panels[0].set_title(f"{one.study.source}: {one.study.title}", loc="left", fontsize=9)
        if one.study.curves is not None:
            _draw_curves(panels.pop(0), one)
        if shown:
            _draw_claims(panels.pop(0), shown)
        for empty in panels:
            empty.text(0, 0.5, "Nothing here can be compared.")
            empty.axis("off")
        for kind in ("svg", "png"):
            drawn.savefig(
                path.with_suffix(f".{kind}"), dpi=150, metadata={"Date": None} if kind == "svg" else {}
            )


_WIDE = 30
"""So many times the least that a greatest value gets an axis by orders of magnitude."""

_FAR = 8
"""So many times the paper's number that farther ones are drawn nearer."""


def _is_wide(values: Iterable[float]) -> bool:
    found = list(values)
    return bool(found) and min(found) > 0 and max(found) > _WIDE * min(found)


def _draw_curves(axes: Axes, one: Done) -> None:
    curves = one.study.curves
    assert curves is not None
    series: dict[str, dict[float, list[float]]] = {}
    for row in one.rows:
        if row.x is not None:
            series.setdefault(row.name, {}).setdefault(row.x, []).append(row.value)
    for at, (name, points) in enumerate(series.items()):
        x = sorted(points)
        means = [fmean(points[each]) for each in x]
        spread = [
            [mean - min(points[each]) for mean, each in zip(means, x, strict=True)],
            [max(points[each]) - mean for mean, each in zip(means, x, strict=True)],
        ]
        axes.errorbar(
            x, means, spread, label=name, markersize=4, linewidth=1.2, capsize=2,
            color=_COLOURS[at % 7], marker=_MARKERS[at % 7], linestyle=_DASHES[at % 4],
        )  # fmt: skip
        stated = [point for point in curves.stated if point.series == name]
        if stated:
            xs, ys = [point.x for point in stated], [point.y for point in stated]
            axes.plot(xs, ys, "*", color=_COLOURS[at % 7], markersize=12, label=f"{name}, the paper")
    axes.set(xlabel=curves.x, ylabel=curves.y)
    if _is_wide(x for points in series.values() for x in points):
        axes.set_xscale("log")
    if _is_wide(value for points in series.values() for values in points.values() for value in values):
        axes.set_yscale("log")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)


def _draw_claims(axes: Axes, shown: Sequence[Finding]) -> None:
    ratios = []
    for at, finding in enumerate(shown):
        ours, (_, number, tolerance) = finding.measured, finding.claim.expected
        assert ours is not None
        colour, marker = _BY_VERDICT[finding.verdict]
        axes.fill_betweenx(
            [at - 0.35, at + 0.35], 1 - tolerance, 1 + tolerance, color="#00000018", linewidth=0
        )
        low, mean, high = (end / number for end in (ours.low, ours.mean, ours.high))
        axes.plot([low, high], [at, at], color=colour, linewidth=1.4)
        axes.plot(mean, at, marker, color=colour, markersize=5)
        ratios += [low, mean, high]
    axes.axvline(1, color="black", linewidth=0.8)
    if max(map(abs, ratios)) > _FAR:
        axes.set_xscale("symlog", linthresh=2)
        axes.xaxis.set_major_formatter("{x:g}")
    labels = [f"{found.claim.name} ({found.claim.expected.relation})" for found in shown]
    axes.set_yticks(range(len(shown)), labels, fontsize=7)
    axes.set(xlabel="ours over the paper's number", ylim=(len(shown) - 0.4, -0.6))
    axes.grid(False, axis="y")
    keys = [
        axes.plot([], [], marker, color=colour, label=verdict.value)[0]
        for verdict, (colour, marker) in _BY_VERDICT.items()
    ]
    axes.legend(handles=keys, fontsize=7, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
