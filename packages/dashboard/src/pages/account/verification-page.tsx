import { api } from '../../api.ts'
import { refresh, useData } from '../../data/queries.ts'
import { useMe } from '../../data/session.ts'
import { useAddress } from '../../data/use-address.ts'
import { Field, Form, Select, useAction } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Pager, toPageNumber } from '../../ui/pager.tsx'
import { Badge, Copyable, Time, type Tone } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'

const methods = [
  ['domain', 'A domain that I own'],
  ['github', 'My GitHub account'],
  ['manual', 'Something else, which an administrator reviews'],
] as const
type Method = (typeof methods)[number][0]
const tones: Record<string, Tone> = { verified: 'good', rejected: 'bad', pending: 'fair' }

/** Author verification: requests a proof, shows the instructions and the state. */
export function VerificationPage() {
  const { username } = useMe()!
  const page = toPageNumber(useAddress().fields.page)
  const own = useData(['verifications', username, page], () => api.listOwnVerifications({ username, page }))
  const action = useAction(async ({ method, proof = '' }: Record<string, string>) => {
    await api.verifyAuthor({ username, method: method as Method, proof })
    await refresh('verifications')
  })
  return (
    <Page title="Verification">
      <p class="faint">
        Skills of verified authors have a mark. To prove your identity, publish a token in a place that only you
        control.
      </p>
      <details class="card">
        <summary>Request verification</summary>
        <Form action={action} submit="Ask">
          <Select label="Method" name="method" options={methods} />
          <Field
            label="Proof"
            name="proof"
            required
            maxLength={1000}
            hint="The domain; the URL of a gist or of a file in your repository; or a description."
          />
        </Form>
      </details>
      <Shown of={own}>
        {({ verifications, totalPages }) => (
          <>
            <ul class="plain">
              {verifications.map((one) => (
                <li key={one.id}>
                  <p class="facts">
                    <Badge tone={tones[one.status]}>{one.status}</Badge>
                    <strong>{one.method}</strong>
                    <bdi>{one.proof}</bdi>
                    <span>
                      asked <Time at={one.createdAt} />
                    </span>
                    {one.checkedAt && (
                      <span>
                        looked at <Time at={one.checkedAt} />
                      </span>
                    )}
                  </p>
                  {one.status === 'pending' && (
                    <>
                      <p>{one.instructions}</p>
                      {one.method !== 'manual' && <Copyable text={one.token} label="Copy the token" />}
                    </>
                  )}
                  {one.note && <p dir="auto">{one.note}</p>}
                </li>
              ))}
            </ul>
            <Pager page={page} totalPages={totalPages} />
          </>
        )}
      </Shown>
    </Page>
  )
}
