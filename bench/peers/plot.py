"""docs/peers.svg: panels, one row a peer. Colours are chosen by the reader's background, light or dark."""

import html
import math

from report import percentile

WIDTH, LEFT, RIGHT, ROW, HEAD = 760, 150, 90, 20, 46
STYLE = """
text { font: 12px sans-serif; fill: #24292f } .title { font-weight: bold } .tick { fill: #57606a; font-size: 10px }
.grid { stroke: #d0d7de } .span { stroke: #6e7781; stroke-width: 2 } .other { fill: #8c959f } .ours { fill: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .tick { fill: #9198a1 } .grid { stroke: #3d444d } .span { stroke: #9198a1 }
  .other { fill: #656c76 } .ours { fill: #4493f8 }
}
"""


class Scale:
    """Positions on a logarithmic axis that ends at whole powers of ten."""

    def __init__(self, values):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(self.low + 1, math.ceil(math.log10(max(values))))

    def at(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def ticks(self):
        return [10.0**power for power in range(self.low, self.high + 1)]


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
                  text(scale.at(tick), top + HEAD - 12, f"{tick:g} {unit}", "tick", "middle")]
    for index, (name, samples) in enumerate(rows):
        y = top + HEAD + ROW * index + ROW / 2
        median = percentile(samples, 50)
        kind = "ours" if name.startswith("caisson") else "other"
        parts += [text(LEFT - 8, y + 4, name, "", "end"),
                  line(scale.at(min(samples)), y, scale.at(percentile(samples, 99)), y, "span"),
                  f'<circle cx="{scale.at(median):.1f}" cy="{y:.1f}" r="5" class="{kind}"/>',
                  text(WIDTH - RIGHT + 12, y + 4, f"{median:.3g} {unit}", "tick")]
    return parts, bottom - top + 16


def as_svg(data):
    names = [peer["name"] for peer in data.measured()]
    parts, top = [], 0
    for title, measure, unit in (
            ("Start: made, `true`, removed (median; line from smallest to p99)", "start", "ms"),
            ("Another command in a sandbox that is there", "exec", "ms"),
            ("Memory of each of many alive (PSS without the payload)", "alive_pss", "MiB"),
            ("A C build in a fresh sandbox", "build", "ms")):
        added, height = panel(top, title, unit, [(name, data.samples(measure, name)) for name in names])
        parts += added
        top += height
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}" viewBox="0 0 {WIDTH} {top}" role="img" '
            f'aria-label="Caisson and its peers">\n<style>{STYLE}</style>\n' + "\n".join(parts) + "\n</svg>\n")
