import { useLocation } from 'preact-iso'
import { isUnauthorized } from '../../data/queries.ts'
import { signIn, useMe } from '../../data/session.ts'
import { Field, Form, useAction } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { SetupLink } from '../../ui/setup-link.tsx'
import { toNextPlace } from '../../ui/sign-in-link.tsx'

/** Trades an API key for a session; the key itself is not kept anywhere. */
export function SignInPage() {
  const { route, query } = useLocation()
  const me = useMe()
  const next = toNextPlace(query.next)
  const action = useAction(async ({ key = '' }: Record<string, string>) => {
    await signIn(key.trim())
    route(next, true)
  })
  const opensNothing = isUnauthorized(action.error)
  return (
    <Page title="Sign in">
      <SetupLink />
      {me && (
        <p>
          You are signed in as <bdi>{me.username}</bdi>. <a href={next}>Go on</a>, or sign in with another key.
        </p>
      )}
      <Form action={opensNothing ? { ...action, error: null } : action} submit="Sign in">
        <Field
          label="API key"
          name="key"
          type="password"
          required
          autocomplete="current-password"
          hint="It begins with ssk_. A node that was started with `start` has the first one in .skillstead/admin-key; otherwise whoever runs it makes one: skillstead users create NAME."
        />
      </Form>
      {opensNothing && (
        <div class="problem" role="alert">
          <strong>This key opens nothing here</strong>
          <p>
            It is mistyped, revoked or of another node. Copy all of it, beginning with ssk_; whoever runs this node can
            make a new one.
          </p>
        </div>
      )}
    </Page>
  )
}
