import { addresses, toAddress } from '../../addresses.ts'
import { api } from '../../api.ts'
import { useMe } from '../../session.ts'
import { Field, Form, Select, TextArea } from '../../ui/form.tsx'
import { Notice } from '../../ui/parts.tsx'
import { SignInTo } from '../../ui/sign-in-link.tsx'
import type { ShownSkill } from './shown-skill.ts'

const reasons = [
  ['malicious', 'It is malicious'],
  ['secret', 'It contains a secret or personal data'],
  ['spam', 'It is spam, or misleading'],
  ['offensive', 'It is offensive'],
  ['other', 'Something else'],
] as const

/** Reports a skill to the administrators, or reports it as a copy. */
export function ReportTab({ shown: { name } }: { shown: ShownSkill }) {
  const me = useMe()
  return (
    <>
      <section aria-label="Report this skill">
        <h2>Report this skill</h2>
        <Form
          work={({ reason = '', details }) => api.reportSkill({ name, reason, details })}
          answer={() => <Notice>Thank you. The administrators of this node will review it.</Notice>}
          submit="Send the report"
        >
          <Select label="What is wrong?" name="reason" options={reasons} />
          <TextArea label="What did you find, and where?" name="details" maxLength={4000}>
            Only administrators can read this.
          </TextArea>
        </Form>
      </section>
      {me && (
        <section aria-label="Report a copy">
          <h2>Report a copy</h2>
          <Form
            work={({ original = '', evidence = '' }) =>
              api.reportCopy({ name, originalSkillId: original.trim(), evidence })
            }
            answer={({ similarity }) => (
              <Notice>
                Reported. The two are {Math.round(similarity * 100)}% alike. The administrators receive your report.
              </Notice>
            )}
            submit="Report the copy"
          >
            <Field label="The original" name="original" required placeholder="owner/name">
              Its name on this node.
            </Field>
            <TextArea label="Evidence" name="evidence" required maxLength={10_000} />
          </Form>
        </section>
      )}
      <SignInTo>report it as a copy of another skill</SignInTo>
      <p class="hint">
        For bugs in the skill, <a href={addresses.skill(name, 'issues')}>file an issue</a>. The copyright holder can
        also <a href={toAddress('/takedowns', { skill: name })}>send the operator a DMCA notice</a>.
      </p>
    </>
  )
}
