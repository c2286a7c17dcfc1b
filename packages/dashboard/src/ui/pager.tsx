import { useLocation } from 'preact-iso'
import { toAddress } from '../data/use-address.ts'

/** Links to the pages before and after, in the address; nothing where one page holds all. */
export function Pager({ page, totalPages }: { page: number; totalPages: number }) {
  const { path, query } = useLocation()
  if (totalPages <= 1) return null
  const to = (number: number) => toAddress(path, { ...query, page: number === 1 ? undefined : `${number}` })
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 && (
        <a href={to(page - 1)} onClick={startOver}>
          Previous
        </a>
      )}
      <span>
        Page {page} of {totalPages}
      </span>
      {page < totalPages && (
        <a href={to(page + 1)} onClick={startOver}>
          Next
        </a>
      )}
    </nav>
  )
}

/** The next page is read from its beginning, by the eye and by the keyboard. */
function startOver(): void {
  document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true })
  scrollTo(0, 0)
}

/** The number of the page in the address; the first where it is none. */
export function toPageNumber(text: string | undefined): number {
  const page = Number(text ?? 1)
  return Number.isInteger(page) && page > 0 ? page : 1
}
