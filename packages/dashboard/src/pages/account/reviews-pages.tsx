import '../../styles/skill.css'
import type { QuarantinedVersion, QuarantinedDetails } from '@skillstead/protocol'
import { addresses } from '../../addresses.ts'
import { api, useData } from '../../api.ts'
import { useMe } from '../../session.ts'
import { verdictTones, Findings, Verdict, ChangeReport } from '../../ui/findings.tsx'
import { type Column, DataTable, Page, toTimeColumn, usePaged, LoadedPage, Shown } from '../../ui/page.tsx'
import { Badge, UserLink, toCount, Time, UserText, By } from '../../ui/parts.tsx'
import { FullName } from '../../ui/skill-list.tsx'
import { useLocation, useRoute } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { FilePatches } from '../../ui/file-patches.tsx'
import { ActionButton, ConfirmButton, Field, Form, Select, TextArea, type Fields } from '../../ui/form.tsx'

/** The versions that wait for the user as a reviewer, and the user's own submissions. */
export function ReviewsPage() {
  const me = useMe()!
  const found = usePaged(['quarantine', 'own'], (page) => api.listQuarantined({ own: true, page }))
  const columns: readonly Column<QuarantinedVersion>[] = [
    { title: 'Version', names: true, by: ({ fullName }) => fullName, cell: (one) => <ReviewLink of={one} /> },
    {
      title: 'By',
      by: ({ publisher }) => publisher.username,
      cell: ({ publisher: { username } }) => (username === me.username ? 'you' : <UserLink name={username} />),
    },
    { title: 'Scan', cell: ({ security: { verdict } }) => <Badge tone={verdictTones[verdict]}>{verdict}</Badge> },
    { title: 'Waits for', cell: ({ approvals }) => (approvals ? toApprovalWords(approvals) : 'an administrator') },
    toTimeColumn('Submitted', ({ createdAt }) => createdAt),
  ]
  return (
    <Page
      title="Approvals"
      hint="Versions that wait for your approval, and your own versions that are not published yet."
    >
      <DataTable of={found} items="quarantined" label="Versions that wait" columns={columns}>
        No version waits. Versions of organisations that demand approval appear here, for their reviewers and authors.
      </DataTable>
    </Page>
  )
}

const VersionName = ({ of }: { of: QuarantinedVersion }) => (
  <>
    <FullName name={of.fullName} /> {of.version}
  </>
)

/** A link to the page of a submitted version. */
export const ReviewLink = ({ of }: { of: QuarantinedVersion }) => (
  <a href={addresses.review(of.id)}>
    <VersionName of={of} />
  </a>
)

/** How far the approval of a version is, in words. */
export const toApprovalWords = (of: NonNullable<QuarantinedVersion['approvals']>): string =>
  `${of.given} of ${toCount(of.needed, 'approval')}${of.changesRequested ? ', changes requested' : ''}`

type Place = { readonly path: string; readonly line: number }

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
  const [place, setPlace] = useState<Place>()
  const diff = useData(['quarantine', 'diff', id], () => api.diffQuarantined({ id }))
  return (
    <Page title={`${fullName} ${version}`} heading={<VersionName of={of} />} aside={<Decision of={of} />}>
      <p class="facts">
        <By name={publisher.username} />
        <Time at={of.createdAt} verb="submitted" />
        <Badge tone={approvals?.changesRequested ? 'bad' : 'fair'}>
          {approvals ? toApprovalWords(approvals) : 'waits for an administrator'}
        </Badge>
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

const OneComment = ({ of, hasPlace }: { of: QuarantinedDetails['comments'][number]; hasPlace?: boolean }) => (
  <div class="card">
    <p class="facts">
      <UserLink name={of.username} />
      {hasPlace && of.path !== null && (
        <span>
          <bdi>{of.path}</bdi>
          {of.line !== null && `, line ${of.line}`}
        </span>
      )}
      <Time at={of.createdAt} />
    </p>
    <UserText class="said-text">{of.body}</UserText>
  </div>
)

/** A form for a comment on the version, on a file, or on a line of a file. */
function CommentForm({ of, place }: { of: QuarantinedDetails; place: Place | undefined }) {
  const [sent, setSent] = useState(0)
  // The form is below the lines of the file, so the focus moves to the form when the reviewer picks a line.
  useEffect(() => {
    if (place) document.querySelector<HTMLElement>('textarea[name=body]')?.focus()
  }, [place])
  const send = async ({ body = '', path, line }: Fields) => {
    const on = path ? { path, line: line ? Number(line) : undefined } : {}
    await api.commentQuarantined({ id: of.id, body, ...on })
    setSent(sent + 1)
  }
  return (
    <Form key={sent} work={send} submit="Comment">
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

/** What the user can do: as its publisher withdraw the version; as a reviewer approve, request changes or reject. */
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
          work={() => api.deleteQuarantined({ id })}
          leadsTo="/account/reviews"
        >
          <p>The version is deleted and will not be published. This cannot be undone.</p>
        </ConfirmButton>
      )}
    </div>
  )
}
