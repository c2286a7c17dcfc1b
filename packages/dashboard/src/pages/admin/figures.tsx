import type { ComponentChildren } from 'preact'

/** Figures with their titles. */
export function Figures({ of }: { of: readonly (readonly [title: string, value: ComponentChildren])[] }) {
  return (
    <dl class="figures">
      {of.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          {typeof value === 'number' ? <dd class="number">{value.toLocaleString('en')}</dd> : <dd>{value}</dd>}
        </div>
      ))}
    </dl>
  )
}
