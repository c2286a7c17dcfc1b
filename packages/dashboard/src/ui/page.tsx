import type { UseQueryResult } from '@tanstack/preact-query'
import { ArrowDown, ArrowUp } from 'lucide'
import { h, type ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { toAddress } from '../addresses.ts'
import { useData } from '../api.ts'
import { site } from '../site.ts'
import { Icon } from './icon.tsx'
import { Empty, Time } from './parts.tsx'
import { Problem } from './problem.tsx'

/** A page with its title, in the window and as its only first-level heading. */
export function Page(props: {
  title: string
  /** The heading, if it differs from the title in its looks. */
  heading?: ComponentChildren
  aside?: ComponentChildren
  /** One sentence on what the page is for. */
  hint?: ComponentChildren
  class?: string | undefined
  children: ComponentChildren
}) {
  useEffect(() => {
    document.title = `${props.title} · ${site.name}`
  }, [props.title])
  return (
    <article class={`page ${props.class ?? ''}`}>
      <div class="page-head">
        <h1>{props.heading ?? <bdi>{props.title}</bdi>}</h1>
        {props.aside}
      </div>
      {props.hint && <p class="hint">{props.hint}</p>}
      {props.children}
    </article>
  )
}

/** A page that is shown when its data is known; before that, its title with a loading message or the error. */
export function LoadedPage<T>(props: {
  title: string
  of: UseQueryResult<T>
  /** What is shown below an error. */
  instead?: ComponentChildren
  children: (data: T) => ComponentChildren
}) {
  const { data, error } = props.of
  if (data !== undefined) return props.children(data)
  return (
    <Page title={props.title}>
      <Shown of={props.of}>{() => null}</Shown>
      {error && props.instead}
    </Page>
  )
}

/** The loaded data; before that a loading message, or the error. */
export function Shown<T>({ of, children }: { of: UseQueryResult<T>; children: (data: T) => ComponentChildren }) {
  const problem = of.error && <Problem error={of.error} retry={of.refetch} />
  if (of.data === undefined) return problem || <Loading />
  return (
    <>
      {problem}
      {children(of.data)}
    </>
  )
}

/** A placeholder for content that is not loaded yet. */
export const Loading = () => (
  <p class="loading" role="status">
    Loading…
  </p>
)

type ItemOf<Data, Name extends keyof Data> = Data[Name] extends readonly (infer Item)[] ? Item : never

interface ItemsProps<Data, Name extends keyof Data> {
  readonly of: UseQueryResult<Data>
  /** The property of the data that has the items. */
  readonly items: Name
  /** The message if there are no items. */
  readonly empty?: ComponentChildren
  readonly label?: string
}

/** Loaded items with links to their other pages, for a list that shows them in its own way. */
export function Items<Data extends object, Name extends keyof Data>(
  props: ItemsProps<Data, Name> & {
    children: (items: readonly ItemOf<Data, Name>[], totalPages: number) => ComponentChildren
  },
) {
  return (
    <Shown of={props.of}>
      {(data) => {
        const items = data[props.items] as readonly ItemOf<Data, Name>[]
        const totalPages = 'totalPages' in data ? Number(data.totalPages) : 1
        return (
          <>
            {items.length > 0 || props.empty === undefined ? (
              props.children(items, totalPages)
            ) : (
              <Empty>{props.empty}</Empty>
            )}
            <Pager totalPages={totalPages} />
          </>
        )
      }}
    </Shown>
  )
}

/** A list of loaded items, with links to its other pages. */
export const ItemList = <Data extends object, Name extends keyof Data>(
  props: ItemsProps<Data, Name> & { class?: string; children: (item: ItemOf<Data, Name>) => ComponentChildren },
) => (
  <Items {...props}>
    {(items) => (
      <ul class={props.class ?? 'plain'} aria-label={props.label}>
        {items.map(props.children)}
      </ul>
    )}
  </Items>
)

export interface Column<Row> {
  readonly title: string
  /** Whether the column has numbers, which are right-aligned. */
  readonly number?: boolean
  /** Whether the cells of the column are the headers of their rows. */
  readonly names?: boolean
  /** The value by which the browser sorts a list of one page. */
  by?(row: Row): SortValue
  /** The address of the list as the API sorts it by this column, and whether that is the shown order. */
  readonly sorted?: undefined | { readonly href: string; readonly current: boolean }
  /** The content of a cell. Default: the value by which the browser sorts. */
  cell?(row: Row): ComponentChildren
}

/** The column that names the rows, by which a list of one page is sorted. */
export function toNameColumn<Row>(
  title: string,
  by: (row: Row) => string,
  cell: (props: { name: string }) => ComponentChildren,
): Column<Row> {
  return { title, names: true, by, cell: (row) => cell({ name: by(row) }) }
}

/** A column of relative times, by which a list of one page is sorted. */
export function toTimeColumn<Row>(title: string, by: (row: Row) => string | null, none = ''): Column<Row> {
  const cell = (row: Row) => {
    const at = by(row)
    return at === null ? none : <Time at={at} />
  }
  return { title, by, cell }
}

interface TableProps<Row> {
  readonly columns: readonly Column<Row>[]
  /** The property that identifies a row. Default: `id`. */
  readonly rowKey?: keyof Row
  readonly label?: string
}

/** A table of loaded items, with links to its other pages; without items, its children. On a phone a row is a card. */
export const DataTable = <Data extends object, Name extends keyof Data>(
  props: Omit<ItemsProps<Data, Name>, 'empty'> & TableProps<ItemOf<Data, Name>> & { children?: ComponentChildren },
) => (
  <Items {...props} empty={props.children}>
    {(rows, totalPages) => <Table {...props} rows={rows} isSortable={totalPages <= 1} />}
  </Items>
)

/** A table whose rows are known. Its columns with a value to sort by are sortable unless `isSortable` is false. */
export function Table<Row>(props: TableProps<Row> & { rows: readonly Row[]; isSortable?: boolean }) {
  const { columns, isSortable = true, rowKey = 'id' as keyof Row } = props
  const [order, setOrder] = useState<{ title: string; isDown: boolean }>()
  const by = isSortable && order && columns.find(({ title }) => title === order.title)?.by
  const rows = by ? props.rows.toSorted((a, b) => compare(by(a), by(b), order.isDown)) : props.rows
  const sortBy = ({ title, number }: Column<Row>) =>
    setOrder({ title, isDown: order?.title === title ? !order.isDown : number === true })
  return (
    <div class="wide" role="region" aria-label={props.label} tabIndex={0}>
      <table class="data">
        <thead>
          <tr>
            {columns.map((column) => {
              const isDown = order?.title === column.title ? order.isDown : undefined
              const sorting =
                column.sorted?.current || isDown ? 'descending' : isDown === false ? 'ascending' : undefined
              return (
                <th key={column.title} scope="col" class={column.number ? 'number' : undefined} aria-sort={sorting}>
                  {column.by && isSortable ? (
                    <button type="button" class="sort" onClick={() => sortBy(column)}>
                      {column.title}
                      {isDown !== undefined && <Icon of={isDown ? ArrowDown : ArrowUp} />}
                    </button>
                  ) : column.sorted ? (
                    <a href={column.sorted.href}>
                      {column.title}
                      {column.sorted.current && <Icon of={ArrowDown} />}
                    </a>
                  ) : (
                    column.title
                  )}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={JSON.stringify(row[rowKey])}>{columns.map((column) => toCell(column, row))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

type SortValue = string | number | null

/** Orders numbers by size and texts as people sort them; null is always last. */
function compare(a: SortValue, b: SortValue, isDown: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : textOrder.compare(`${a}`, `${b}`)
  return isDown ? -order : order
}

const toValueText = (value: SortValue) => (typeof value === 'number' ? value.toLocaleString('en') : <bdi>{value}</bdi>)

const textOrder = new Intl.Collator('en', { numeric: true })

function toCell<Row>({ title, number, names, by, cell = by && ((of) => toValueText(by(of))) }: Column<Row>, row: Row) {
  const attributes = names ? { scope: 'row' } : { class: number ? 'number' : undefined, 'data-title': title }
  return h(names ? 'th' : 'td', { key: title, ...attributes }, cell?.(row))
}

/** Links to the previous and next page; empty if there is only one page. Default page: the one in the address. */
export function Pager({ totalPages, ...shown }: { page?: number; totalPages: number }) {
  const { path, query } = useLocation()
  const page = shown.page ?? toPageNumber(query.page)
  if (totalPages <= 1) return null
  // An address with a line and without a page number shows the page that contains the line.
  const isDefault = (number: number) => number === 1 && query.line === undefined
  const link = (number: number, title: string) => (
    <a href={toAddress(path, { ...query, page: isDefault(number) ? undefined : `${number}` })} onClick={startOver}>
      {title}
    </a>
  )
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 && link(page - 1, 'Previous')}
      <span>
        Page {page} of {totalPages}
      </span>
      {page < totalPages && link(page + 1, 'Next')}
    </nav>
  )
}

/** Scrolls to the top and moves the focus there. */
function startOver(): void {
  document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true })
  scrollTo(0, 0)
}

/** Loads the page of a list whose number the address names. */
export function usePaged<T>(key: readonly unknown[], load: (page: number) => Promise<T>): UseQueryResult<T> {
  const page = usePage()
  return useData([...key, page], () => load(page))
}

/** The page number in the address. Default: 1. */
export const usePage = (): number => toPageNumber(useLocation().query.page)

export function toPageNumber(text: string | undefined): number {
  const page = Number(text ?? 1)
  return Number.isInteger(page) && page > 0 ? page : 1
}
