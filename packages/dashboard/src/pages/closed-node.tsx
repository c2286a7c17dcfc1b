import { Page } from '../ui/page.tsx'
import { SignInLink } from '../ui/sign-in-link.tsx'

/** Replaces every page of a private node for visitors. */
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
