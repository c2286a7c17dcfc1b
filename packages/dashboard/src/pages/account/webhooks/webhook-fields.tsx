import type { api } from '../../../api.ts'
import { Check, Field, TextArea } from '../../../ui/form.tsx'
import { NewSecret } from '../../../ui/parts.tsx'

type Webhook = Awaited<ReturnType<typeof api.listWebhooks>>['webhooks'][number]
type EventName = Webhook['events'][number]

const events: readonly (readonly [EventName, string])[] = [
  ['skill.published', 'a version that you can see is published'],
  ['skill.downloaded', 'a skill of yours is downloaded'],
  ['skill.recalled', 'versions of a skill that you may see are recalled'],
  ['skill.starred', 'a skill of yours is starred'],
  ['skill.review.created', 'a skill of yours is reviewed'],
  ['skill.issue.created', 'an issue is filed for a skill of yours'],
  ['user.followed', 'a user follows you'],
]

/** The form fields of a webhook. */
export function WebhookFields({ webhook, withSecret }: { webhook?: Webhook; withSecret?: boolean }) {
  return (
    <>
      <Field label="Address" name="url" type="url" required defaultValue={webhook?.url}>
        The URL that the node posts to. It must use https and be public, unless the operator allows your network.
      </Field>
      <fieldset>
        <legend>Events</legend>
        {events.map(([name, when]) => (
          <Check key={name} name={name} defaultChecked={webhook?.events.includes(name) ?? false}>
            <code>{name}</code> {when}
          </Check>
        ))}
      </fieldset>
      <TextArea label="Only for these skills" name="skills" rows={2} value={webhook?.skills?.join('\n')}>
        One per line: owner/name, or owner/* for all skills of an owner. Empty: all skills.
      </TextArea>
      {withSecret && (
        <Field label="Secret" name="secret" type="password" autocomplete="off">
          Empty: a new random secret.
        </Field>
      )}
    </>
  )
}

export function toWebhookSettings(fields: Record<string, string>) {
  const skills = (fields.skills ?? '').split(/\s+/).filter(Boolean)
  return {
    url: fields.url!,
    events: events.map(([name]) => name).filter((name) => fields[name] === 'on'),
    skills: skills.length > 0 ? skills : null,
  }
}

/** The secret of a webhook, which is shown only once. */
export function SecretShown({ secret, onDone }: { secret: string; onDone(): void }) {
  return (
    <NewSecret label="The secret" text={secret} onDone={onDone}>
      Copy the secret now: it is shown only once. Your program verifies signatures with it.
    </NewSecret>
  )
}
