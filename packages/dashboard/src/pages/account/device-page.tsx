import { useState } from 'preact/hooks'
import { postToNode } from '../../api.ts'
import { useMe } from '../../session.ts'
import { Field, Form, Outcome, unlessBusy, useAction, type Fields } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Time } from '../../ui/parts.tsx'
import { SignInLink } from '../../ui/sign-in-link.tsx'
import { WaitingForSession } from '../placeholder-pages.tsx'

const title = 'Sign in a program'

/** A program that waits for a decision. */
interface Waiting {
  readonly userCode: string
  readonly label: string
  readonly scopes: readonly string[]
  readonly requestedAt: string
}

/** Confirms the sign-in of a program that shows a code, and gives it an API key of the signed-in user. */
export default function DevicePage() {
  const me = useMe()
  const [waiting, setWaiting] = useState<Waiting>()
  const [isAllowed, setAllowed] = useState<boolean>()
  if (me === undefined) return <WaitingForSession title={title} />
  return (
    <Page title={title}>
      {me === null ? (
        <p>
          A program asked to act in your name. <SignInLink>Sign in</SignInLink> first, then enter its code here.
        </p>
      ) : isAllowed !== undefined ? (
        <Decided isAllowed={isAllowed} />
      ) : waiting ? (
        <Decision of={waiting} me={me} onDecided={setAllowed} />
      ) : (
        <CodeForm onFound={setWaiting} />
      )}
    </Page>
  )
}

function CodeForm({ onFound }: { onFound(waiting: Waiting): void }) {
  const action = useAction(async ({ code = '' }: Fields) => {
    const userCode = code.trim()
    const shown = await postToNode<Omit<Waiting, 'userCode'>>('/api/cli/device/show', { userCode })
    onFound({ userCode, ...shown })
  })
  return (
    <Form action={action} submit="Continue">
      <Field
        label="Code"
        name="code"
        required
        maxLength={20}
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
      >
        The program shows it, for example BCDF-GHJK. It is valid for 10 minutes.
      </Field>
    </Form>
  )
}

function Decision(props: {
  of: Waiting
  me: NonNullable<ReturnType<typeof useMe>>
  onDecided(isAllowed: boolean): void
}) {
  const { username } = props.me
  const { userCode, label, requestedAt, scopes } = props.of
  const decide = async (allow: boolean) => {
    await postToNode('/api/cli/device/decide', { userCode, allow })
    props.onDecided(allow)
  }
  const action = useAction(decide)
  const { busy, run } = action
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

function Decided({ isAllowed }: { isAllowed: boolean }) {
  if (!isAllowed) return <p role="status">The program was denied. It got no key.</p>
  return (
    <p role="status">
      The program is signed in; you can close this page. <a href="/account/keys">Revoke its key</a> at any time.
    </p>
  )
}
