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
  ['domain', 'A domain of mine'],
  ['github', 'A GitHub account of mine'],
  ['manual', 'Something else, which an administrator looks at'],
] as const
type Method = (typeof methods)[number][0]
const tones: Record<string, Tone> = { verified: 'good', rejected: 'bad', pending: 'fair' }

/** Proves who an author is: asks for a proof, tells what to do, shows how it stands. */
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
        Verified authors carry a mark on their skills. A proof holds a token that only you can put in its place.
      </p>
      <details class="card">
        <summary>Ask for a verification</summary>
        <Form action={action} submit="Ask">
          <Select label="What proves who you are" name="method" options={methods} />
          <Field
            label="Proof"
            name="proof"
            required
            maxLength={1000}
            hint="The domain; the address of a gist or of a file in a repository of yours; or a few words."
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
