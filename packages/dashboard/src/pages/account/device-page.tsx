import { postToNode } from '../../api.ts'
import { useMe } from '../../session.ts'
import { Field, Form, Outcome, unlessBusy, useAction, type Fields } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Time } from '../../ui/parts.tsx'
import { SignInLink } from '../../ui/sign-in-link.tsx'
import { WaitingForSession } from '../placeholder-pages.tsx'

const title = 'Sign in a program'

/** A program whose sign-in waits for the decision of the user. */
interface Waiting {
  readonly label: string
  readonly scopes: readonly string[]
  readonly requestedAt: string
}

/** Confirms the sign-in of a program that shows a code, and gives it an API key of the signed-in user. */
export default function DevicePage() {
  const me = useMe()
  const find = useAction(async ({ code = '' }: Fields) => {
    const userCode = code.trim()
    return { userCode, ...(await postToNode<Waiting>('/api/cli/device/show', { userCode })) }
  })
  if (me === undefined) return <WaitingForSession title={title} />
  return (
    <Page title={title}>
      {me === null ? (
        <p>
          A program asked to act in your name. <SignInLink>Sign in</SignInLink> first, then enter its code here.
        </p>
      ) : find.result ? (
        <Decision of={find.result} username={me.username} />
      ) : (
        <Form action={find} submit="Continue">
          <Field
            label="Code"
            name="code"
            required
            maxLength={20}
            autocomplete="off"
            autocapitalize="characters"
            spellcheck={false}
            hint="The program shows it, for example BCDF-GHJK. It is valid for 10 minutes."
          />
        </Form>
      )}
    </Page>
  )
}

function Decision({ of, username }: { of: Waiting & { userCode: string }; username: string }) {
  const { userCode, label, requestedAt, scopes } = of
  const action = useAction(async (allow: boolean) => {
    await postToNode('/api/cli/device/decide', { userCode, allow })
    return allow
  })
  const { busy, run, result } = action
  if (result === false) return <p role="status">The program was denied. It got no key.</p>
  if (result) {
    return (
      <p role="status">
        The program is signed in; you can close this page. <a href="/account/keys">Revoke its key</a> at any time.
      </p>
    )
  }
  return (
    <>
      <p>
        The program <bdi>“{label}”</bdi> asked to sign in as <bdi>{username}</bdi>, <Time at={requestedAt} />. It gets
        an API key with which it can read what you can see and publish in your name
        {scopes.includes('manage') && ', and manage your keys and settings'}.
      </p>
      <p>
        <strong>Allow this only if you started the program yourself.</strong> If someone sent you the code, deny it.
      </p>
      <div class="row">
        <button type="button" class="main" {...unlessBusy({ busy, run: () => run(true) })}>
          {busy ? 'One moment…' : 'Allow'}
        </button>
        <button type="button" class="danger" {...unlessBusy({ busy, run: () => run(false) })}>
          Deny
        </button>
      </div>
      <Outcome of={action} />
    </>
  )
}
