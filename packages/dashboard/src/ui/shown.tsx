import type { UseQueryResult } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { Problem } from './problem.tsx'

/** The loaded data; before that a loading message, or the error. */
export function Shown<T>({ of, children }: { of: UseQueryResult<T>; children: (data: T) => ComponentChildren }) {
  if (of.data !== undefined) {
    return (
      <>
        {of.error && <Problem error={of.error} retry={of.refetch} />}
        {children(of.data)}
      </>
    )
  }
  if (of.error) return <Problem error={of.error} retry={of.refetch} />
  return (
    <p class="loading" role="status">
      Loading…
    </p>
  )
}
