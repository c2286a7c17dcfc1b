import { useSessionFailure } from '../session.ts'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { SignInLink } from '../ui/sign-in-link.tsx'

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

export function NotHere() {
  return (
    <Page title="Nothing here">
      <p>
        There is no page at this address. <a href="/">Browse the skills</a> instead.
      </p>
    </Page>
  )
}

/** Shown to visitors of a private node in place of every page. */
export function ClosedNode() {
  return (
    <Page title="This node is private">
      <p>
        You need an API key to see its skills. <SignInLink>Sign in</SignInLink> with your key. The operator of this node
        can create one for you.
      </p>
    </Page>
  )
}
