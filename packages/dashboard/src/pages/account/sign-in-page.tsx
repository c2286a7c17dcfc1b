import { useLocation } from 'preact-iso'
import { isUnauthorized } from '../../api.ts'
import { nodePath } from '../../addresses.ts'
import { signIn, useMe } from '../../session.ts'
import { site } from '../../site.ts'
import { Field, Form, useAction, type Fields } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { SetupLink, toNextPlace } from '../../ui/sign-in-link.tsx'

/** Exchanges an API key for a session; the key itself is not stored. */
export function SignInPage() {
  const { route, query } = useLocation()
  const me = useMe()
  const next = toNextPlace(query.next)
  const action = useAction(async ({ key = '' }: Fields) => {
    await signIn(key.trim())
    route(next, true)
  })
  // The identity provider of the node leads back to the page that the user wanted.
  const openProvider = () => location.assign(`${nodePath}/login?next=${encodeURIComponent(next)}`)
  const opensNothing = isUnauthorized(action.error)
  return (
    <Page title="Sign in">
      <SetupLink />
      {me && (
        <p>
          You are signed in as <bdi>{me.username}</bdi>. <a href={next}>Continue</a>, or sign in with another key.
        </p>
      )}
      {site.signIn !== undefined && (
        <p>
          <button type="button" class="main" onClick={openProvider}>
            Sign in with {site.signIn}
          </button>
        </p>
      )}
      <Form action={opensNothing ? { ...action, error: null } : action} submit="Sign in">
        <Field label="API key" name="key" type="password" required autocomplete="current-password">
          It begins with ssk_. “skillstead start” saves the first key in .skillstead/admin-key; otherwise ask the
          operator of this node for one.
        </Field>
      </Form>
      {opensNothing && (
        <div class="problem" role="alert">
          <strong>This key is not valid here</strong>
          <p>
            It is mistyped, revoked or from another node. Copy all of it, beginning with ssk_. The operator of this node
            can create a new one.
          </p>
        </div>
      )}
    </Page>
  )
}
