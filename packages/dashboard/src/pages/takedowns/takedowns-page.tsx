import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import { addresses } from '../../addresses.ts'
import { api } from '../../api.ts'
import { useAddress } from '../../data/use-address.ts'
import { Check, Field, Form, TextArea, useAction } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Copyable } from '../../ui/parts.tsx'

interface Sent {
  readonly id: string
  readonly caseToken: string
}

/** For whoever holds the rights to what a skill contains: the notice that has it taken down, and where a case stands. */
export default function TakedownsPage() {
  const [sent, setSent] = useState<Sent>()
  if (sent) return <NoticeSent of={sent} />
  return (
    <Page title="Takedowns">
      <p>
        Does a skill here contain what is yours, without your leave? Send the operator of this node a notice as the DMCA
        asks for it. The owner of the skill may answer; what you state is read by the administrators and not published.
      </p>
      <p class="hint">
        For what does harm, or breaks the rules of this node, use the <em>Report</em> link on the page of the skill.
      </p>
      <NoticeForm onSent={setSent} />
      <CaseFinder />
    </Page>
  )
}

function NoticeForm({ onSent }: { onSent(sent: Sent): void }) {
  const { skill = '' } = useAddress().fields
  const action = useAction(async (fields: Record<string, string>) => {
    const { id, caseToken = '' } = await api.submitDmca({
      skillName: fields.skill!.trim(),
      claimantName: fields.claimantName!,
      claimantEmail: fields.claimantEmail!,
      organization: fields.organization || undefined,
      workDescription: fields.workDescription!,
      originalUrl: fields.originalUrl || undefined,
      // The form is not sent before both are ticked.
      goodFaith: true,
      accuracy: true,
      signature: fields.signature!,
    })
    onSent({ id, caseToken })
  })
  return (
    <section aria-label="Send a notice">
      <h2>Send a notice</h2>
      <Form action={action} submit="Send the notice">
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
        <TextArea
          label="What is yours"
          name="workDescription"
          required
          maxLength={10_000}
          hint="Which work it is, and where in the skill it stands."
        />
        <Field label="Where the original is" name="originalUrl" type="url" maxLength={2000} placeholder="https://" />
        <Check name="goodFaith" required>
          I believe in good faith that neither the owner of the work, nor anybody for him, nor the law allows this use.
        </Check>
        <Check name="accuracy" required>
          This notice is accurate, and, under penalty of perjury, I may act for the owner of the work.
        </Check>
        <Field label="Signature" name="signature" required maxLength={200} hint="Your full name, typed." />
      </Form>
    </section>
  )
}

function NoticeSent({ of: { id, caseToken } }: { of: Sent }) {
  return (
    <Page title="The notice was sent">
      <p role="status">
        Its case has a page of its own, <a href={addresses.takedown(id)}>where you see how it stands</a>. Whoever has
        the token below reads everything that was stated. Copy it now: it is shown this once.
      </p>
      <div class="card secret">
        <Copyable text={caseToken} label="Copy the token" />
      </div>
    </Page>
  )
}

function CaseFinder() {
  const { route } = useLocation()
  const action = useAction(async ({ id = '' }: Record<string, string>) => route(addresses.takedown(id.trim())))
  return (
    <section aria-label="Look a case up">
      <h2>Look a case up</h2>
      <Form action={action} submit="Show the case">
        <Field label="Number of the case" name="id" required maxLength={64} autocomplete="off" />
      </Form>
    </section>
  )
}
