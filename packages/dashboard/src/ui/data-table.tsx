import type { ComponentChildren } from 'preact'

/** A table that scrolls on its own, also by keyboard, if it is wider than the page. */
export function DataTable(props: {
  label: string
  columns: readonly { title: string; number?: boolean }[]
  children: ComponentChildren
}) {
  return (
    <div class="wide" role="region" aria-label={props.label} tabIndex={0}>
      <table class="data">
        <thead>
          <tr>
            {props.columns.map(({ title, number }) => (
              <th key={title} scope="col" class={number ? 'number' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  )
}
