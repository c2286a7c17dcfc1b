import type { FunctionComponent } from 'preact'
import { useMe, useSessionFailure } from '../session.ts'
import { Loading, Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { SignInLink } from '../ui/sign-in-link.tsx'

/** Shown in place of a page that depends on the signed-in user, until the session is known. */
export function WaitingForSession({ title }: { title: string }) {
  const failure = useSessionFailure()
  return <Page title={title}>{failure ? <Problem {...failure} /> : <Loading />}</Page>
}

/** A page that visitors are asked to sign in for. */
export function forUsers(Content: FunctionComponent): FunctionComponent {
  return function UserPage() {
    const me = useMe()
    if (me === undefined) return <WaitingForSession title="Account" />
    if (me) return <Content />
    return (
      <Page title="Sign in required">
        <p>
          Only users of this node see this page. <SignInLink>Sign in</SignInLink> first.
        </p>
      </Page>
    )
  }
}

export const NotHere = () => (
  <Page title="Nothing here">
    <p>
      There is no page at this address. <a href="/">Browse the skills</a> instead.
    </p>
  </Page>
)

/** Shown at the address of a share link that gives no access. */
export const EndedLink = () => (
  <Page title="Nothing here">
    <p>This share link does not exist or has expired. Ask the owner of the skill for a new one.</p>
  </Page>
)

/** Shown to visitors of a private node in place of every page. */
export const ClosedNode = () => (
  <Page title="This node is private">
    <p>
      Only its users see its skills. <SignInLink>Sign in</SignInLink>, or ask the operator of this node for an account.
    </p>
  </Page>
)
