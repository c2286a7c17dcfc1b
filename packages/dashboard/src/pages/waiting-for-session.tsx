import { useSessionFailure } from '../data/session.ts'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'

/** In the place of a page for somebody, as long as it is not known for whom. */
export function WaitingForSession({ title }: { title: string }) {
  const failure = useSessionFailure()
  return (
    <Page title={title}>
      {failure ? (
        <Problem {...failure} />
      ) : (
        <p class="loading" role="status">
          Loading…
        </p>
      )}
    </Page>
  )
}
