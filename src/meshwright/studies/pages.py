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
from meshwright.studies.claims import Finding, Verdict
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
    "legend.frameon": False,
}
_WORDS = {
    "Reproduced": "The 95% interval of our mean over the seeds lies within the tolerance, which was settled "
    "before the run.",
    "Differs": "It does not. The reason is beside it, and variants that test the reason are listed apart.",
    "Not comparable": "The paper does not say enough to measure it again.",
    "Variant": "The same statement in another setting, added after a run. Variants are never counted.",
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
    def variants(self) -> list[Finding]:
        """The findings that test reasons, or are in fitted settings."""
        return [finding for finding in self.findings if finding.claim.variant_of]


def write_site(folder: Path, done: Sequence[Done], about: Mapping[str, Any]) -> None:
    """Write data, pictures and pages of studies, an index, and a page in Markdown for each paper."""
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
            verdicts(one.counted) or "no claims",
            verdicts(one.variants),
        )
        for one in done
    ]
    headings = ("table or figure", "paper", "verdicts", "variants, not counted")
    body = {
        "verdicts": section("verdicts", "Verdicts", table("Studies", headings, rows)),
        "making": making(about),
        "reading": glossary(_WORDS),
    }
    return page("Studies", header("study", "The papers' tables and figures, run again", numbers), body)


def _study_page(one: Done, folder: Path, about: Mapping[str, Any]) -> str:
    title = f"{one.study.source}: {one.study.title}"
    svg = (folder / "figures" / f"{one.study.name}.svg").read_text("utf-8")
    picture = tag("div", Html(svg[svg.index("<svg") :]), class_="print")
    caption = f"{_caption(one)} Also as figures/{one.study.name}.png and .svg."
    numbers = [(count(len(one.counted)), "claims"), (verdicts(one.counted) or "none", "verdicts")]
    body = {
        "verdicts": section("verdicts", "Verdicts", _table(one.counted), _reasons(one.counted)),
        "pictures": section("pictures", "Side by side", figure(picture, caption)),
        "variants": section("variants", "Variants, not counted", _table(one.variants))
        if one.variants
        else Html(""),
        "making": making({**about, "data": f"data/{one.study.name}.parquet"}),
        "reading": glossary(_WORDS),
    }
    return page(title, header("study", title, numbers), body)


def _markdown(paper: str, done: Sequence[Done], about: Mapping[str, Any]) -> str:
    """The studies of a paper, for the documentation."""
    counted = [finding for one in done for finding in one.counted]
    versions = ", ".join(f"{name} {version}" for name, version in about.get("versions", {}).items())
    parts = [
        f"# {PAPERS[paper].title}: results",
        f"{len(counted)} claims: {verdicts(counted)}. Made by `meshwright {about.get('command')}` at the "
        f"scale *{about.get('scale')}* on {about.get('date')} ({about.get('machine')}; {versions}).",
    ]
    for one in done:
        parts += [
            f"## {one.study.source}: {one.study.title}",
            f"![{one.study.title}](figures/{one.study.name}.svg)",
            _caption(one),
            _rows(one.counted),
        ]
        reasons = [
            f"- `{finding.claim.name}`: {finding.claim.reason}"
            for finding in one.counted
            if finding.verdict is not Verdict.REPRODUCED and finding.claim.reason
        ]
        parts += ["\n".join(reasons)] if reasons else []
        parts += ["Variants, which are not counted:", _rows(one.variants)] if one.variants else []
    return "\n\n".join(parts) + "\n"


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
    if one.study.curves is not None:
        return (
            "Means over the seeds; bars reach from the least to the greatest. Stars are the paper's values."
        )
    return (
        "Ours as a multiple of the paper's number, with the 95% interval of the mean. The line is the paper, "
        "the band its tolerance."
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
    relation, number, tolerance = finding.claim.expected
    return f"{relation} {decimal(number)}" + (f" (±{100 * tolerance:g}%)" if tolerance else "")


def _ours(finding: Finding) -> tuple[str, str, str]:
    ours = finding.measured
    if ours is None:
        return "", "", ""
    return decimal(ours.mean), f"{decimal(ours.low)} to {decimal(ours.high)}", count(ours.runs)


def _reasons(findings: Sequence[Finding]) -> Html:
    """How each claim was measured, and why those that differ do."""
    parts = []
    for finding in findings:
        claim = finding.claim
        why = f" {claim.reason}" if finding.verdict is not Verdict.REPRODUCED and claim.reason else ""
        parts += [tag("dt", claim.name), tag("dd", f"{claim.how}{why}")]
    return tag("dl", *parts, class_="words")


def _draw(one: Done, path: Path) -> None:
    """Draw the curves of a study, or else its claims beside the paper's numbers, as SVG and PNG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        height = 3.2 if one.study.curves is not None else 1.2 + 0.28 * len(one.findings)
        drawn = Figure(figsize=(6.4, height), layout="constrained")
        axes = drawn.subplots()
        (_draw_curves if one.study.curves is not None else _draw_claims)(axes, one)
        axes.set_title(f"{one.study.source}: {one.study.title}", loc="left", fontsize=9)
        for kind in ("svg", "png"):
            drawn.savefig(
                path.with_suffix(f".{kind}"), dpi=150, metadata={"Date": None} if kind == "svg" else {}
            )


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
    if series and max(max(points) for points in series.values()) > 100 * min(min(p) for p in series.values()):
        axes.set_xscale("log")
    axes.legend()


def _draw_claims(axes: Axes, one: Done) -> None:
    shown = [found for found in one.findings if found.measured is not None and found.claim.expected.number]
    for at, finding in enumerate(shown):
        ours, (_, number, tolerance) = finding.measured, finding.claim.expected
        assert ours is not None
        colour, marker = _BY_VERDICT[finding.verdict]
        axes.fill_betweenx(
            [at - 0.35, at + 0.35], 1 - tolerance, 1 + tolerance, color="#00000018", linewidth=0
        )
        low, mean, high = (end / number for end in (ours.low, ours.mean, ours.high))
        axes.plot([low, high], [at, at], color=colour, linewidth=1.4)
        inside = "none" if finding.claim.variant_of else colour
        axes.plot(mean, at, marker, color=colour, markersize=5, markerfacecolor=inside)
    axes.axvline(1, color="black", linewidth=0.8)
    labels = [f"{found.claim.name} ({found.claim.expected.relation})" for found in shown]
    axes.set_yticks(range(len(shown)), labels, fontsize=7)
    axes.set(xlabel="ours over the paper's number; hollow: a variant", ylim=(len(shown) - 0.4, -0.6))
    axes.grid(False, axis="y")
