import type { ComponentChildren } from 'preact'

/** Figures, each with what it counts. */
export function Figures({ of }: { of: readonly (readonly [title: string, value: ComponentChildren])[] }) {
  return (
    <dl class="figures">
      {of.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{typeof value === 'number' ? value.toLocaleString('en') : value}</dd>
        </div>
      ))}
    </dl>
  )
}
