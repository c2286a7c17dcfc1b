import { useState } from 'preact/hooks'
import { api } from '../../../api.ts'
import { refresh } from '../../../data/queries.ts'
import { Form, useAction } from '../../../ui/form.tsx'
import { SecretShown } from './secret.tsx'
import { WebhookFields, toSettings } from './webhook-fields.tsx'

/** Creates a webhook; the secret that signs its deliveries is shown once. */
export function NewWebhook() {
  const [secret, setSecret] = useState<string>()
  const action = useAction(async (fields: Record<string, string>) => {
    const made = await api.createWebhook({ ...toSettings(fields), secret: fields.secret || undefined })
    if (made.secret) setSecret(made.secret)
    await refresh('webhooks')
  })
  if (secret !== undefined) return <SecretShown secret={secret} onDone={() => setSecret(undefined)} />
  return (
    <details class="card">
      <summary>Create a webhook</summary>
      <Form action={action} submit="Create webhook" done="Made.">
        <WebhookFields withSecret />
      </Form>
    </details>
  )
}
