import type { api } from '../../../api.ts'
import { Check, Field, TextArea } from '../../../ui/form.tsx'

type Webhook = Awaited<ReturnType<typeof api.listWebhooks>>['webhooks'][number]
type EventName = Webhook['events'][number]

const events: readonly (readonly [EventName, string])[] = [
  ['skill.published', 'a version that you may see is published'],
  ['skill.downloaded', 'a skill of yours is downloaded'],
  ['skill.starred', 'a skill of yours is starred'],
  ['skill.review.created', 'a skill of yours is reviewed'],
  ['skill.issue.created', 'an issue is filed for a skill of yours'],
  ['user.followed', 'somebody follows you'],
]

/** What a webhook is about, as fields of a form. */
export function WebhookFields({ webhook, withSecret }: { webhook?: Webhook; withSecret?: boolean }) {
  return (
    <>
      <Field
        label="Address"
        name="url"
        type="url"
        required
        defaultValue={webhook?.url}
        hint="Where the node posts to: https, and public unless the operator lets it reach your network."
      />
      <fieldset>
        <legend>Events</legend>
        {events.map(([name, when]) => (
          <Check key={name} name={name} defaultChecked={webhook?.events.includes(name) ?? false}>
            <code>{name}</code> {when}
          </Check>
        ))}
      </fieldset>
      <TextArea
        label="Only for these skills"
        name="skills"
        rows={2}
        value={webhook?.skills?.join('\n')}
        hint="One a line: owner/name, or owner/* for all of an owner. All of them where it is empty."
      />
      {withSecret && (
        <Field label="Secret" name="secret" type="password" autocomplete="off" hint="Made for you where it is empty." />
      )}
    </>
  )
}

export function toSettings(fields: Record<string, string>) {
  const skills = (fields.skills ?? '').split(/\s+/).filter(Boolean)
  return {
    url: fields.url!,
    events: events.map(([name]) => name).filter((name) => fields[name] === 'on'),
    skills: skills.length > 0 ? skills : null,
  }
}
