import type { ComponentChildren } from 'preact'
import { Empty } from '../../ui/parts.tsx'
import { Pager } from '../../ui/pager.tsx'

/** Items that need a decision, paged; shows a message if there are none. */
export function Queue<T>(props: {
  items: readonly T[]
  label: string
  empty: string
  page?: number
  totalPages?: number
  children: (item: T) => ComponentChildren
}) {
  const { items, page = 1, totalPages = 1 } = props
  if (items.length === 0) {
    return (
      <Empty>
        <p>{props.empty}</p>
      </Empty>
    )
  }
  return (
    <>
      <ul class="plain" aria-label={props.label}>
        {items.map(props.children)}
      </ul>
      <Pager page={page} totalPages={totalPages} />
    </>
  )
}
