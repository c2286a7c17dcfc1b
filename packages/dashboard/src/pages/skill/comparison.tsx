import { type FileDiff, type SkillDiff, verdictWords } from '@skillstead/protocol'
import { useState } from 'preact/hooks'
import { api, useData } from '../../api.ts'
import { ChangeReport } from '../../ui/change.tsx'
import { Diff } from '../../ui/diff.tsx'
import { Shown } from '../../ui/page.tsx'
import { toCount } from '../../ui/parts.tsx'
import { AccessList, isEmptyAccess } from './access-list.tsx'

const openFiles = 5
const filesStep = 50
/** Maximum size of a patch that is shown open; larger patches are collapsed. */
const openCharactersMax = 50_000

/** The comparison of two versions: newly used tools and hosts, then file by file. */
export function Comparison({ name, from, to }: { name: string; from: string; to: string }) {
  const found = useData(['skill', name, 'diff', from, to], () => api.diffSkill({ name, from, to }))
  return (
    <section class="comparison" aria-label={`From ${from} to ${to}`}>
      <h2>
        From {from} to {to}
      </h2>
      <Shown of={found}>{(diff) => (from === to ? <p>These are the same version.</p> : <Parts diff={diff} />)}</Shown>
    </section>
  )
}

function Parts({ diff }: { diff: SkillDiff }) {
  const [shown, show] = useState(filesStep)
  const { files, access, security, change, from, to } = diff
  return (
    <>
      {!isEmptyAccess(access.added) && (
        <div class="card widens">
          <h3>New in {to}</h3>
          <AccessList access={access.added} />
        </div>
      )}
      {!isEmptyAccess(access.removed) && (
        <details class="card">
          <summary>No longer used in {to}</summary>
          <AccessList access={access.removed} />
        </details>
      )}
      <p>
        Security: {toVerdictWords(security.from)} in {from}, {toVerdictWords(security.to)} in {to}.{' '}
        {files.length === 0 ? 'No file differs.' : `${toCount(files.length, 'file')} changed.`}
      </p>
      {change && <ChangeReport change={change} />}
      {files.slice(0, shown).map((file, place) => (
        <FilePatch key={file.path} file={file} open={place < openFiles} />
      ))}
      {files.length > shown && (
        <button type="button" onClick={() => show(shown + filesStep)}>
          Show more files
        </button>
      )}
    </>
  )
}

function toVerdictWords(verdict: SkillDiff['security']['from']): string {
  return verdict ? `${verdictWords[verdict.verdict]} (${verdict.score})` : 'not scanned'
}

const omissions = {
  binary: 'A binary file cannot be compared as text.',
  'too large': 'It is too large to compare here. Download both versions to compare them.',
}

function FilePatch({ file, open }: { file: FileDiff; open: boolean }) {
  const [isOpen, setOpen] = useState(open && (file.diff?.length ?? 0) <= openCharactersMax)
  return (
    <details class="file-patch" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <bdi>{file.path}</bdi>{' '}
        <span class="faint">
          {file.status}
          {file.executable !== undefined && (file.executable ? ', now executable' : ', no longer executable')}
        </span>
      </summary>
      {isOpen && file.diff !== null && <Diff patch={file.diff} label={`Differences in ${file.path}`} />}
      {file.diff === null && <p>{omissions[file.omitted ?? 'binary']}</p>}
    </details>
  )
}
