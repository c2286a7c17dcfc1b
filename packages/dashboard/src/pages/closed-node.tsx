import { Page } from '../ui/page.tsx'
import { SignInLink } from '../ui/sign-in-link.tsx'

/** In the place of every page of a private node, for whoever is not signed in. */
export function ClosedNode() {
  return (
    <Page title="This node is private">
      <p>
        It shows its skills to those who have an API key of it. <SignInLink>Sign in</SignInLink> with yours; whoever
        runs this node can make one for you.
      </p>
    </Page>
  )
}
