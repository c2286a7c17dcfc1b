import { api } from '../../api.ts'
import { useMe } from '../../session.ts'
import { Field, Form, Select, choice, type Fields } from '../../ui/form.tsx'
import { Page, usePaged, ItemList } from '../../ui/page.tsx'
import { Badge, Copyable, Time, type Tone } from '../../ui/parts.tsx'

const methods = [
  ['domain', 'A domain that I own'],
  ['github', 'My GitHub account'],
  ['manual', 'Something else, which an administrator reviews'],
] as const
const tones: Record<string, Tone> = { verified: 'good', rejected: 'bad', pending: 'fair' }

/** Author verification: requests a proof, shows the instructions and the state. */
export function VerificationPage() {
  const { username } = useMe()!
  const own = usePaged(['verifications', username], (page) => api.listOwnVerifications({ username, page }))
  const ask = ({ method, proof = '' }: Fields) => api.verifyAuthor({ username, method: choice(methods, method), proof })
  return (
    <Page
      title="Verification"
      hint="Skills of verified authors have a mark. You prove who you are with a token in a place that only you control."
      aside={
        <Form card="Request verification" work={ask} submit="Send the request">
          <Select label="Method" name="method" options={methods} />
          <Field label="Proof" name="proof" required maxLength={1000}>
            The domain; the URL of a gist or of a file in your repository; or a description.
          </Field>
        </Form>
      }
    >
      <ItemList of={own} items="verifications" empty="You have not asked to be verified yet.">
        {(one) => (
          <li key={one.id}>
            <p class="facts">
              <Badge tone={tones[one.status]}>{one.status}</Badge>
              <strong>{one.method}</strong>
              <bdi>{one.proof}</bdi>
              <Time at={one.createdAt} verb="requested" />
              {one.checkedAt && <Time at={one.checkedAt} verb="checked" />}
            </p>
            {one.status === 'pending' && (
              <>
                <p>{one.instructions}</p>
                {one.method !== 'manual' && <Copyable text={one.token} label="Copy the token" />}
              </>
            )}
            {one.note && <p dir="auto">{one.note}</p>}
          </li>
        )}
      </ItemList>
    </Page>
  )
}
