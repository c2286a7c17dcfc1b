import { show, type Figure } from './figures.ts'

interface Bar {
  readonly label: string
  readonly ratio: number
  readonly isMissed: boolean
}

interface Panel {
  readonly title: string
  readonly bars: readonly Bar[]
}

const width = 860
const labelWidth = 400
const valueWidth = 80
const barHeight = 16
const rowHeight = 26
const titleHeight = 44
const margin = 16

/**
 * The rates that are compared with other programs as an SVG that is read in light and in dark. A line marks 1; a bar that
 * misses its target has another colour.
 */
export function toChart(figures: readonly Figure[]): string {
  let top = margin
  const drawn = toPanels(figures).map((panel) => {
    const shapes = drawPanel(panel, top)
    top += toHeight(panel)
    return shapes
  })
  const size = measureChart(figures)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" role="img" aria-labelledby="title">
<title id="title">Skillstead compared with other programs</title>
<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 15px }
.bar { fill: #0969da }
.missed { fill: #bc4c00 }
.mark { stroke: #57606a; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .bar { fill: #4493f8 }
  .missed { fill: #f0883e }
  .mark { stroke: #9198a1 }
}
</style>
${drawn.join('\n')}
</svg>
`
}

/** The size of the chart in pixels, for which a page keeps a place until the chart is loaded. */
export function measureChart(figures: readonly Figure[]): { readonly width: number; readonly height: number } {
  const heights = toPanels(figures).map(toHeight)
  return { width, height: heights.reduce((sum, height) => sum + height, 2 * margin) }
}

function toHeight({ bars }: Panel): number {
  return titleHeight + bars.length * rowHeight
}

function toPanels(figures: readonly Figure[]): Panel[] {
  const rates = figures.filter(({ unit }) => unit.endsWith('/s'))
  const compared = rates.flatMap((figure) => (figure.compared ?? []).map((other) => ({ figure, other })))
  return [...Map.groupBy(compared, ({ other }) => other.with)].map(([name, pairs]) => ({
    title: `Requests a second, compared with ${name}`,
    bars: pairs.map(({ figure, other: { ratio, least } }) =>
      toBar(figure, ratio, least !== undefined && ratio < least),
    ),
  }))
}

function toBar(figure: Figure, ratio: number, isMissed: boolean): Bar {
  return { label: `${figure.part}: ${figure.name}`, ratio, isMissed }
}

function drawPanel({ title, bars }: Panel, top: number): string {
  const room = width - 2 * margin - labelWidth - valueWidth
  const most = Math.max(1, ...bars.map(({ ratio }) => ratio))
  const left = margin + labelWidth
  const toLength = (ratio: number) => Math.round((ratio / most) * room)
  const rows = bars.map(({ label, ratio, isMissed }, i) => {
    const y = top + titleHeight - 10 + i * rowHeight
    const shown = label.length > 58 ? `${label.slice(0, 57)}…` : label
    return [
      `<text x="${left - 10}" y="${y + 13}" text-anchor="end"><title>${escape(label)}</title>${escape(shown)}</text>`,
      `<rect class="${isMissed ? 'missed' : 'bar'}" x="${left}" y="${y}" width="${toLength(ratio)}" height="${barHeight}" rx="2"/>`,
      `<text x="${left + toLength(ratio) + 6}" y="${y + 13}">${show(ratio)}</text>`,
    ].join('\n')
  })
  const bottom = top + titleHeight - 10 + bars.length * rowHeight
  const x = left + toLength(1)
  const line = `<line class="mark" x1="${x}" x2="${x}" y1="${top + titleHeight - 14}" y2="${bottom}"/>`
  return [`<text class="title" x="${margin}" y="${top + 18}">${escape(title)}</text>`, ...rows, line].join('\n')
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
