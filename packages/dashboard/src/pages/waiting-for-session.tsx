import { useSessionFailure } from '../data/session.ts'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'

/** Shown in place of a user's page until the session is known. */
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
