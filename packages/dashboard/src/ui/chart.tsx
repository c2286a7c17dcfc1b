import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'

interface Series {
  readonly label: string
  readonly values: readonly number[]
}

/** Values per day as lines; a table has the same numbers for users who cannot see the lines. */
export default function Chart({
  days,
  series,
  label,
}: {
  days: readonly string[]
  series: readonly Series[]
  label: string
}) {
  const holder = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = holder.current!
    const colours = getComputedStyle(element)
    const text = colours.getPropertyValue('--text').trim()
    const axis = { stroke: text, grid: { stroke: colours.getPropertyValue('--line').trim(), width: 1 } }
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
          ...series.map((one, place) => ({
            label: one.label,
            stroke: colours.getPropertyValue(strokes[place % 2]!).trim(),
            width: 2,
          })),
        ],
      },
      [days.map((day) => Date.parse(day) / 1000), ...series.map(({ values }) => [...values])],
      element,
    )
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: 200 }))
    observer.observe(element)
    return () => {
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
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {series.map((one) => (
                <th scope="col" key={one.label}>
                  {one.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map((day, place) => (
              <tr key={day}>
                <th scope="row">{day}</th>
                {series.map((one) => (
                  <td key={one.label}>{one.values[place]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}
