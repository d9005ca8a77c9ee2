"""docs/peers.svg: panels, one row a peer. Colours are chosen by the reader's background, light or dark."""

import html
import math

from report import number, percentile

WIDTH, LEFT, RIGHT, ROW, HEAD = 760, 150, 90, 20, 46
MOST_TICKS = 7
STYLE = """
text { font: 12px sans-serif; fill: #24292f } .title { font-weight: bold } .tick { fill: #57606a; font-size: 10px }
.grid { stroke: #d0d7de } .span { stroke: #6e7781; stroke-width: 2 } .other { fill: #8c959f } .ours { fill: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .tick { fill: #9198a1 } .grid { stroke: #3d444d } .span { stroke: #9198a1 }
  .other { fill: #656c76 } .ours { fill: #4493f8 }
}
"""


class Scale:
    """Positions on a logarithmic axis that ends at 1, 2 or 5 times a power of ten."""

    def __init__(self, values):
        powers = range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)
        steps = [float(f"{step}e{power}") for power in powers for step in (1, 2, 5)] + [float(f"1e{powers[-1] + 1}")]
        first = max(index for index, step in enumerate(steps) if step <= min(values))
        last = min(index for index, step in enumerate(steps) if step >= max(values) and index > first)
        self.steps = steps[first:last + 1]

    def at(self, value):
        low, high = math.log10(self.steps[0]), math.log10(self.steps[-1])
        return LEFT + (math.log10(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def ticks(self):
        """All steps when they are few, else the ends and powers of ten."""
        if len(self.steps) <= MOST_TICKS:
            return self.steps
        tens = [step for step in self.steps[2:-2] if math.log10(step) == round(math.log10(step))]
        return [self.steps[0], *tens, self.steps[-1]]


def text(x, y, said, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{html.escape(said)}</text>'


def line(x1, y1, x2, y2, kind):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def panel(top, title, unit, rows):
    """(lines of SVG, height). A row is (name, samples): a mark at the median, a line from the smallest to p99."""
    rows = [(name, [value for value in samples if value > 0]) for name, samples in rows]
    rows = [(name, samples) for name, samples in rows if samples]
    if not rows:
        return [], 0
    scale = Scale([value for _, samples in rows for value in samples])
    bottom = top + HEAD + ROW * len(rows)
    parts = [text(10, top + 18, title, "title")]
    for tick in scale.ticks():
        parts += [line(scale.at(tick), top + HEAD - 8, scale.at(tick), bottom, "grid"),
                  text(scale.at(tick), top + HEAD - 12, f"{number(tick, 1)} {unit}", "tick", "middle")]
    for index, (name, samples) in enumerate(rows):
        y = top + HEAD + ROW * index + ROW / 2
        median = percentile(samples, 50)
        kind = "ours" if name.startswith("caisson") else "other"
        parts += [text(LEFT - 8, y + 4, name, "", "end"),
                  line(scale.at(min(samples)), y, scale.at(percentile(samples, 99)), y, "span"),
                  f'<circle cx="{scale.at(median):.1f}" cy="{y:.1f}" r="5" class="{kind}"/>',
                  text(WIDTH - RIGHT + 12, y + 4, f"{number(median)} {unit}", "tick")]
    return parts, bottom - top + 16


def as_svg(data):
    names = [peer["name"] for peer in data.measured()]
    parts, top = [], 0
    for title, measure, unit in (
            ("Start: made, true run in it, removed (median; line from the smallest to p99)", "start", "ms"),
            ("Another command in a sandbox that is there", "exec", "ms"),
            ("Memory of each of many alive (PSS without the payload)", "alive_pss", "MiB"),
            ("A C build in a fresh sandbox", "build", "ms")):
        added, height = panel(top, title, unit, [(name, data.samples(measure, name)) for name in names])
        parts += added
        top += height
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}" viewBox="0 0 {WIDTH} {top}" '
            f'role="img" aria-label="Caisson and its peers">\n<style>{STYLE}</style>\n' + "\n".join(parts) + "\n</svg>\n")
