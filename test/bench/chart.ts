import { holds, show, type Figure } from './figures.ts'

interface Bar {
  readonly label: string
  readonly ratio: number
  readonly isMissed: boolean
}

interface Panel {
  readonly title: string
  readonly bars: readonly Bar[]
  /** Where a line is drawn: what is to be reached, or not to be passed. */
  readonly mark?: number
}

const width = 860
const labelWidth = 400
const valueWidth = 80
const barHeight = 16
const rowHeight = 26
const titleHeight = 44
const margin = 16

/**
 * The ratios of the figures as an SVG that is read in light and in dark: what is compared with a bare `node:http`, what is
 * compared with Verdaccio, and what has a bound.
 */
export function toChart(figures: readonly Figure[]): string {
  const panels = toPanels(figures).filter(({ bars }) => bars.length > 0)
  let top = margin
  const drawn = panels.map((panel) => {
    const shapes = drawPanel(panel, top)
    top += titleHeight + panel.bars.length * rowHeight
    return shapes
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top + margin}" role="img" aria-labelledby="title">
<title id="title">Skillstead compared with a bare node:http server, Verdaccio and its targets</title>
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

function toPanels(figures: readonly Figure[]): Panel[] {
  const rates = figures.filter(({ unit }) => unit.endsWith('/s'))
  const toBare = rates.flatMap((figure) => (figure.bare ? [toBar(figure, figure.bare.ratio)] : []))
  const toVerdaccio = rates.flatMap((figure) => (figure.verdaccio ? [toBar(figure, figure.verdaccio.ratio)] : []))
  const bounded = figures.flatMap((figure) => {
    const { value, least, most } = figure
    if (least !== undefined) return [toBar(figure, least / value)]
    return most === undefined || most === 0 ? [] : [toBar(figure, value / most)]
  })
  return [
    { title: 'Share of what bare node:http answers, or bare undici delivers', bars: toBare, mark: 1 },
    { title: 'Times as many requests a second as Verdaccio', bars: toVerdaccio },
    { title: 'Share of what is allowed: beyond the line it is missed', bars: bounded, mark: 1 },
  ]
}

function toBar(figure: Figure, ratio: number): Bar {
  return { label: `${figure.part}: ${figure.name}`, ratio, isMissed: holds(figure) === false }
}

function drawPanel({ title, bars, mark }: Panel, top: number): string {
  const room = width - 2 * margin - labelWidth - valueWidth
  // One that is far beyond must not make the others too small to see.
  const most =
    mark === undefined
      ? Math.max(...bars.map(({ ratio }) => ratio))
      : Math.min(2, Math.max(mark, ...bars.map(({ ratio }) => ratio)))
  const left = margin + labelWidth
  const toLength = (ratio: number) => Math.round(Math.min(1, ratio / most) * room)
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
  const x = left + toLength(mark ?? 0)
  const line =
    mark === undefined ? [] : [`<line class="mark" x1="${x}" x2="${x}" y1="${top + titleHeight - 14}" y2="${bottom}"/>`]
  return [`<text class="title" x="${margin}" y="${top + 18}">${escape(title)}</text>`, ...rows, ...line].join('\n')
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
