import { useLocation } from 'preact-iso'
import { addresses, useAddress } from '../../addresses.ts'
import { api } from '../../api.ts'
import { Check, Field, Form, TextArea, useAction, type Fields } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Copyable } from '../../ui/parts.tsx'

/** For copyright holders: the takedown notice, and the state of a case. */
export default function TakedownsPage() {
  const { skill = '' } = useAddress().fields
  const { route } = useLocation()
  const notice = useAction((fields: Fields) =>
    api.submitDmca({
      skillName: fields.skill!.trim(),
      claimantName: fields.claimantName!,
      claimantEmail: fields.claimantEmail!,
      organization: fields.organization || undefined,
      workDescription: fields.workDescription!,
      originalUrl: fields.originalUrl || undefined,
      // The form cannot be sent without both checkboxes, so both values are true.
      goodFaith: true,
      accuracy: true,
      signature: fields.signature!,
    }),
  )
  if (notice.result) return <NoticeSent of={notice.result} />
  return (
    <Page title="Takedowns">
      <p>
        Does a skill here contain your work without your permission? Send the operator of this node a DMCA notice. The
        owner of the skill may respond. Only the administrators read your statements; they are not published.
      </p>
      <p class="hint">
        For malicious skills, or skills that break the rules of this node, use the <em>Report</em> link on the page of
        the skill.
      </p>
      <section aria-label="Send a notice">
        <h2>Send a notice</h2>
        <Form action={notice} submit="Send the notice">
          <Field label="The skill" name="skill" required placeholder="owner/name" defaultValue={skill} />
          <Field label="Your name" name="claimantName" required maxLength={200} autocomplete="name" />
          <Field
            label="Your e-mail address"
            name="claimantEmail"
            type="email"
            required
            maxLength={320}
            autocomplete="email"
          />
          <Field label="Organization" name="organization" maxLength={200} autocomplete="organization" />
          <TextArea label="Your work" name="workDescription" required maxLength={10_000}>
            Which work it is, and where it is in the skill.
          </TextArea>
          <Field label="URL of the original" name="originalUrl" type="url" maxLength={2000} placeholder="https://" />
          <Check name="goodFaith" required>
            I believe in good faith that this use is not authorized by the owner of the work, its agent, or the law.
          </Check>
          <Check name="accuracy" required>
            This notice is accurate, and, under penalty of perjury, I am authorized to act for the owner of the work.
          </Check>
          <Field label="Signature" name="signature" required maxLength={200} hint="Your full name, typed." />
        </Form>
      </section>
      <section aria-label="Find a case">
        <h2>Find a case</h2>
        <Form work={async ({ id = '' }) => route(addresses.takedown(id.trim()))} submit="Show the case">
          <Field label="Case number" name="id" required maxLength={64} autocomplete="off" />
        </Form>
      </section>
    </Page>
  )
}

const NoticeSent = ({ of: { id, caseToken = '' } }: { of: Awaited<ReturnType<typeof api.submitDmca>> }) => (
  <Page title="The notice was sent">
    <p role="status">
      See the <a href={addresses.takedown(id)}>page of the case</a> for its state. The token below gives access to all
      statements. Copy it now: it is shown only once.
    </p>
    <div class="card secret">
      <Copyable text={caseToken} label="Copy the token" />
    </div>
  </Page>
)
