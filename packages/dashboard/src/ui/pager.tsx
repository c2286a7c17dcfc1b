import { useLocation } from 'preact-iso'
import { toAddress } from '../data/use-address.ts'

/** Links to the previous and next page; nothing if there is only one page. */
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

/** Scrolls to the top and moves the focus there. */
function startOver(): void {
  document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true })
  scrollTo(0, 0)
}

/** The page number in the address. Default: 1. */
export function toPageNumber(text: string | undefined): number {
  const page = Number(text ?? 1)
  return Number.isInteger(page) && page > 0 ? page : 1
}
