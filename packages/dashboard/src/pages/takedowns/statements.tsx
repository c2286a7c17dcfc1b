import type { DmcaCase, DmcaNotice } from '@skillstead/protocol'
import { Time, toWords } from '../../ui/parts.tsx'

/** The statements of the parties that the reader may see, and the history of the case. */
export const Statements = ({ of }: { of: DmcaCase }) => (
  <>
    {of.notice && <Notice of={of.notice} />}
    {of.counterNotices?.map((notice) => (
      <details key={notice.id}>
        <summary>
          Counter-notice by <bdi>{notice.name}</bdi>
          {!notice.confirmed && ', not confirmed'}
        </summary>
        <p dir="auto">{notice.statement}</p>
        <p class="faint" dir="auto">
          {notice.email}, {notice.address}. Signed {notice.signature}, <Time at={notice.sentAt} />.
        </p>
      </details>
    ))}
    <details>
      <summary>History</summary>
      <ol>
        {of.history.map(({ status, at, note }) => (
          <li key={`${status} ${at}`}>
            {toWords(status)} <Time at={at} /> {note && <span dir="auto">{note}</span>}
          </li>
        ))}
      </ol>
    </details>
  </>
)

const Notice = ({ of }: { of: DmcaNotice }) => (
  <details>
    <summary>
      Notice by <bdi>{of.claimantName}</bdi>
    </summary>
    <p dir="auto">{of.workDescription}</p>
    <p class="faint" dir="auto">
      {of.claimantEmail}
      {of.organization && `, ${of.organization}`}. Signed {of.signature}.
    </p>
    {of.originalUrl && (
      <p>
        <a href={of.originalUrl} rel="noopener noreferrer nofollow">
          {of.originalUrl}
        </a>
      </p>
    )}
  </details>
)
