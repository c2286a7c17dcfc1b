import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { Table } from './page.tsx'

/** A line of the chart. */
export interface Series {
  readonly label: string
  readonly values: readonly number[]
}

/** Values per day as lines; a table has the same numbers for users who cannot see the lines. */
export default function Chart(props: { days: readonly string[]; series: readonly Series[]; label: string }) {
  const { days, series, label } = props
  const holder = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = holder.current!
    const colours = getComputedStyle(element)
    // The colours are functions, because the colour scheme may change while the chart is shown.
    const toStroke = (name: string) => () => colours.getPropertyValue(name).trim()
    const axis = { stroke: toStroke('--text'), grid: { stroke: toStroke('--line'), width: 1 } }
    const strokes = ['--accent', '--fair']
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: 200,
        cursor: { show: false },
        legend: { live: false },
        // Days are in UTC in every time zone.
        tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
        axes: [axis, axis],
        series: [
          {},
          ...series.map(({ label: name }, place) => {
            return { label: name, stroke: toStroke(strokes[place % 2]!), width: 2 }
          }),
        ],
      },
      [days.map((day) => Date.parse(day) / 1000), ...series.map(({ values }) => [...values])],
      element,
    )
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: 200 }))
    observer.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const redraw = () => plot.redraw()
    scheme.addEventListener('change', redraw)
    return () => {
      scheme.removeEventListener('change', redraw)
      observer.disconnect()
      plot.destroy()
    }
  }, [days, series])
  return (
    <figure class="chart">
      <figcaption>{label}</figcaption>
      <div ref={holder} aria-hidden="true" />
      <details>
        <summary>The numbers</summary>
        <Table<{ id: string; at: number }>
          rows={days.map((id, at) => ({ id, at }))}
          columns={[
            { title: 'Day', names: true, cell: ({ id }) => id },
            ...series.map((one) => ({ title: one.label, cell: ({ at }: { at: number }) => one.values[at] })),
          ]}
        />
      </details>
    </figure>
  )
}
