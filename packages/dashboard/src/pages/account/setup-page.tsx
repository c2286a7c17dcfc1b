import { useState } from 'preact/hooks'
import { api, useData } from '../../api.ts'
import { signIn, useMe } from '../../session.ts'
import { Field, Form, useAction, type Fields } from '../../ui/form.tsx'
import { Page, Shown } from '../../ui/page.tsx'
import { Copyable } from '../../ui/parts.tsx'

/** Creates the first user of a node, its administrator. The setup code proves access to the node's terminal. */
export function SetupPage() {
  const setup = useData(['setup'], () => api.getSetup())
  const [key, setKey] = useState<string>()
  const me = useMe()
  const action = useAction(async ({ code = '', username = '' }: Fields) => {
    const made = await api.setUp({ code: code.trim(), username: username.trim() })
    setKey(made.key)
    await signIn(made.key)
  })
  if (key !== undefined) {
    return (
      <Page title="You are the administrator">
        <p role="status">
          This is your API key. Copy it now: it is shown only once. Use it to sign in again, here and in a terminal.
        </p>
        <Copyable text={key} />
        <p>
          Next: <a href="/account/publish">publish a skill</a>, or <a href="/admin">see the state of the node</a>.
        </p>
      </Page>
    )
  }
  return (
    <Page title="Set up this node">
      <Shown of={setup}>
        {({ needed }) =>
          needed ? (
            <>
              <p>This node has no users yet. Create the first one, who becomes its administrator.</p>
              <Form action={action} submit="Set up">
                <Field label="Code" name="code" required autocomplete="off">
                  The node printed it to its terminal at the start.
                </Field>
                <Field label="Your name on this node" name="username" required autocomplete="username">
                  Lower-case letters, digits and hyphens. Your skills will be named name/skill.
                </Field>
              </Form>
            </>
          ) : (
            <p>
              This node is already set up.{' '}
              {me ? <a href="/account">Go to your account.</a> : <a href="/account/sign-in">Sign in.</a>}
            </p>
          )
        }
      </Shown>
    </Page>
  )
}
