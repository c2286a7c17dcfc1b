import { api } from '../../api.ts'
import { Check, Field, Form } from '../../ui/form.tsx'
import { KeyTable } from '../../ui/user-access.tsx'
import { Page } from '../../ui/page.tsx'
import { NewSecret } from '../../ui/parts.tsx'

const scopes = [
  ['read', 'Read', 'what you can see'],
  ['publish', 'Publish', 'skills and packs in your name'],
  ['manage', 'Manage', 'keys, webhooks and settings'],
] as const

/** API keys: created here, shown once, revocable at any time. */
export const KeysPage = () => (
  <Page
    title="API keys"
    hint="A key acts in your name. Give each program its own key, and revoke unused keys."
    aside={<NewKey />}
  >
    <KeyTable />
  </Page>
)

const NewKey = () => (
  <Form
    card="Create a key"
    work={(fields) =>
      api.createApiKey({
        name: fields.name!,
        expiresInDays: fields.days ? Number(fields.days) : undefined,
        scopes: scopes.map(([scope]) => scope).filter((scope) => fields[scope] === 'on'),
      })
    }
    answer={({ key, expiresAt }, close) => (
      <NewSecret label="The new key" text={key} expiresAt={expiresAt} onDone={close}>
        Copy the key now: it is shown only once. The node stores only its digest.
      </NewSecret>
    )}
    submit="Create key"
  >
    <Field label="Name" name="name" required maxLength={100} hint="What uses the key, such as the name of a machine." />
    <Field label="Expires after, in days" name="days" type="number" min={1} max={3650} defaultValue={90}>
      At most as long as the key that you signed in with. Empty: as long.
    </Field>
    <fieldset>
      <legend>Scopes</legend>
      {scopes.map(([scope, title, what]) => (
        <Check key={scope} name={scope} defaultChecked={scope !== 'manage'}>
          {title}: {what}
        </Check>
      ))}
    </fieldset>
  </Form>
)
