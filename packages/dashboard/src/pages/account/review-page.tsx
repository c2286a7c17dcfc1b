import '../../styles/skill.css'
import type { QuarantinedDetails } from '@skillstead/protocol'
import { useLocation, useRoute } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { addresses } from '../../addresses.ts'
import { api, useData } from '../../api.ts'
import { useMe } from '../../session.ts'
import { FilePatches } from '../../ui/file-patches.tsx'
import { Findings, Verdict, ChangeReport } from '../../ui/findings.tsx'
import { ActionButton, ConfirmButton, Field, Form, Select, TextArea, useAction, type Fields } from '../../ui/form.tsx'
import { LoadedPage, Page, Shown } from '../../ui/page.tsx'
import { Badge, Time, UserText, UserLink, By } from '../../ui/parts.tsx'
import { FullName } from '../../ui/skill-list.tsx'
import { toApprovalWords } from './reviews-page.tsx'

type Comment = QuarantinedDetails['comments'][number]

/** A submitted version with what reviewers look at: its difference, findings and comments; and their decision. */
export function ReviewPage() {
  const { id = '' } = useRoute().params
  const found = useData(['quarantine', 'details', id], () => api.getQuarantined({ id }))
  return (
    <LoadedPage title="Approval" of={found}>
      {(one) => <Submission key={id} of={one} />}
    </LoadedPage>
  )
}

function Submission({ of }: { of: QuarantinedDetails }) {
  const { id, fullName, version, publisher, approvals, security, change, reviews, comments } = of
  const [place, setPlace] = useState<{ path: string; line: number }>()
  const diff = useData(['quarantine', 'diff', id], () => api.diffQuarantined({ id }))
  return (
    <Page
      title={`${fullName} ${version}`}
      heading={
        <>
          <FullName name={fullName} /> {version}
        </>
      }
      aside={<Decision of={of} />}
    >
      <p class="facts">
        <By name={publisher.username} />
        <Time at={of.createdAt} verb="submitted" />
        {approvals ? (
          <Badge tone={approvals.changesRequested ? 'bad' : 'fair'}>{toApprovalWords(approvals)}</Badge>
        ) : (
          <Badge tone="fair">waits for an administrator</Badge>
        )}
        {reviews.map(({ username, verdict, at }) => (
          <span key={username}>
            <bdi>{username}</bdi> {verdict === 'approved' ? 'approved' : 'requested changes'} <Time at={at} />
          </span>
        ))}
      </p>
      <div class="halves">
        <section aria-label="What is new">
          <h2>What is new</h2>
          {change ? <ChangeReport change={change} /> : <p>This is the first version: everything in it is new.</p>}
        </section>
        <section aria-label="Scan findings">
          <h2>Scan findings</h2>
          <Verdict of={security} />
          <Findings findings={security.findings} />
        </section>
      </div>
      <h2>Difference</h2>
      <Shown of={diff}>
        {({ since, files }) => (
          <>
            <p class="hint">
              {since === null ? 'Nothing was published before.' : `Compared with ${since}.`} Choose the number of a line
              to comment on it.
            </p>
            <FilePatches
              files={files}
              onPick={(path, line) => setPlace({ path, line })}
              notesOn={(path, line) =>
                comments
                  .filter((comment) => comment.path === path && comment.line === line)
                  .map((comment) => <OneComment key={comment.id} of={comment} />)
              }
            />
          </>
        )}
      </Shown>
      <h2>Comments</h2>
      {comments.length === 0 && <p class="faint">No comments yet.</p>}
      {comments.map((comment) => (
        <OneComment key={comment.id} of={comment} hasPlace />
      ))}
      {approvals && <CommentForm of={of} place={place} />}
    </Page>
  )
}

function OneComment({ of: { username, path, line, body, createdAt }, hasPlace }: { of: Comment; hasPlace?: boolean }) {
  return (
    <div class="card">
      <p class="facts">
        <UserLink name={username} />
        {hasPlace && path !== null && (
          <span>
            <bdi>{path}</bdi>
            {line !== null && `, line ${line}`}
          </span>
        )}
        <Time at={createdAt} />
      </p>
      <UserText class="said-text">{body}</UserText>
    </div>
  )
}

/** A comment on the version, on a file, or on a line of it. */
function CommentForm({ of, place }: { of: QuarantinedDetails; place: { path: string; line: number } | undefined }) {
  const [sent, setSent] = useState(0)
  // The form is below the lines.
  useEffect(() => {
    if (place) document.querySelector<HTMLElement>('textarea[name=body]')?.focus()
  }, [place])
  const action = useAction(async ({ body = '', path, line }: Fields) => {
    const on = path ? { path, line: line ? Number(line) : undefined } : {}
    await api.commentQuarantined({ id: of.id, body, ...on })
    setSent(sent + 1)
  })
  return (
    <Form key={sent} action={action} submit="Comment">
      <TextArea label="Comment" name="body" required maxLength={10_000} />
      <Select
        key={`on ${place?.path}`}
        label="On"
        name="path"
        value={place?.path ?? ''}
        options={[['', 'The version'], ...of.files.map(({ path }) => path)]}
      />
      <Field key={`line ${place?.line}`} label="Line" name="line" type="number" min={1} defaultValue={place?.line}>
        Empty: the whole file.
      </Field>
    </Form>
  )
}

/** What the user can do: withdraw the own version; approve, request changes or reject as a reviewer. */
function Decision({ of: { id, fullName, version, publisher, mayReview, published } }: { of: QuarantinedDetails }) {
  const { route } = useLocation()
  const isOwn = publisher.username === useMe()!.username
  const review = async (verdict: 'approved' | 'changes_requested') => {
    const { created } = await api.reviewQuarantined({ id, verdict })
    if (created) route(addresses.skill(fullName))
  }
  return (
    <div class="row">
      {mayReview && (
        <>
          <ActionButton work={() => review('approved')}>Approve</ActionButton>
          <ActionButton work={() => review('changes_requested')}>Request changes</ActionButton>
        </>
      )}
      {(isOwn || mayReview) && !published && (
        <ConfirmButton
          action={isOwn ? 'Withdraw' : 'Reject'}
          title={`${isOwn ? 'Withdraw' : 'Reject'} ${fullName} ${version}?`}
          work={async () => {
            await api.deleteQuarantined({ id })
            route('/account/reviews')
          }}
        >
          <p>The version is deleted and will not be published. This cannot be undone.</p>
        </ConfirmButton>
      )}
    </div>
  )
}
