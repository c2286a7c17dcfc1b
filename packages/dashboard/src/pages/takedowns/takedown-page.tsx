import type { DmcaCase } from '@skillstead/protocol'
import { useRoute } from 'preact-iso'
import { api, apiWith, useData } from '../../api.ts'
import { Check, Field, Form, TextArea, useAction, type Fields } from '../../ui/form.tsx'
import { Page, Shown } from '../../ui/page.tsx'
import { Badge, Notice, Time, toWords } from '../../ui/parts.tsx'
import { SkillLink } from '../../ui/skill-list.tsx'
import { Statements } from './statements.tsx'

/** One case: its public state, the statements for the parties, and the owner's counter-notice. */
export default function TakedownPage() {
  const { id = '' } = useRoute().params
  return <Case key={id} id={id} />
}

function Case({ id }: { id: string }) {
  const found = useData(['dmca', 'case', id], () => api.getDmca({ id }))
  // The token is sent with one request and not stored.
  const unlock = useAction(({ token = '' }: Fields) => apiWith({ caseToken: token.trim() }).getDmca({ id }))
  return (
    <Page title="Takedown case" aside={<a href="/takedowns">Takedowns</a>}>
      <Shown of={found}>
        {(known) => (
          <>
            <CaseShown of={unlock.result ?? known} />
            {!unlock.result && !known.notice && (
              <Form card="Use the token of this case" action={unlock} submit="Show what was stated">
                <Field
                  label="Token"
                  name="token"
                  type="password"
                  required
                  autocomplete="off"
                  hint="It begins with sct_."
                />
              </Form>
            )}
            {known.status === 'removed' && <CounterNotice id={id} />}
          </>
        )}
      </Shown>
    </Page>
  )
}

const CaseShown = ({ of }: { of: DmcaCase }) => (
  <>
    <p class="facts">
      <Badge>{toWords(of.status)}</Badge>
      {of.skill && <SkillLink name={of.skill.fullName} />}
      <Time at={of.submittedAt} verb="sent" />
      {of.counterNoticeUntil && (
        <span>
          restored <Time at={of.counterNoticeUntil} /> unless a court action is recorded
        </span>
      )}
      <code>{of.id}</code>
    </p>
    <Statements of={of} />
  </>
)

function CounterNotice({ id }: { id: string }) {
  const action = useAction((fields: Fields) =>
    api.submitCounterNotice({
      id,
      name: fields.name!,
      email: fields.email!,
      address: fields.address!,
      statement: fields.statement!,
      // The form cannot be sent without both checkboxes, so both values are true.
      goodFaith: true,
      jurisdictionConsent: true,
      signature: fields.signature!,
    }),
  )
  if (action.done) {
    return <Notice>Sent. If it was not sent from the owner's account, an administrator confirms it first.</Notice>
  }
  return (
    <details class="card">
      <summary>Answer with a counter-notice</summary>
      <p>
        For the owner of the skill: if it was removed by mistake, state that here, signed in as its owner. It is
        restored after the time that the law sets, unless a court action is recorded before.
      </p>
      <Form action={action} submit="Send the counter-notice">
        <Field label="Your name" name="name" required maxLength={200} autocomplete="name" />
        <Field label="Your e-mail address" name="email" type="email" required maxLength={320} autocomplete="email" />
        <TextArea label="Your postal address" name="address" required rows={3} maxLength={1000} />
        <TextArea label="Why it was a mistake" name="statement" required maxLength={10_000} />
        <Check name="goodFaith" required>
          I believe in good faith, under penalty of perjury, that it was removed by mistake or misidentification.
        </Check>
        <Check name="jurisdictionConsent" required>
          I consent to the jurisdiction of the court of my district, and accept service of process from the claimant.
        </Check>
        <Field label="Signature" name="signature" required maxLength={200} hint="Your full name, typed." />
      </Form>
    </details>
  )
}
