import { type SkillDiff, verdictWords } from '@skillstead/protocol'
import { api, useData } from '../../api.ts'
import { ChangeReport } from '../../ui/change.tsx'
import { FilePatches } from '../../ui/file-patches.tsx'
import { Shown } from '../../ui/page.tsx'
import { toCount } from '../../ui/parts.tsx'
import { AccessList, isEmptyAccess } from './access-list.tsx'

/** The comparison of two versions: newly used tools and hosts, then file by file. */
export function Comparison({ name, from, to }: { name: string; from: string; to: string }) {
  const found = useData(['skill', name, 'diff', from, to], () => api.diffSkill({ name, from, to, allowRecalled: true }))
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
      <FilePatches files={files} />
    </>
  )
}

function toVerdictWords(verdict: SkillDiff['security']['from']): string {
  return verdict ? `${verdictWords[verdict.verdict]} (${verdict.score})` : 'not scanned'
}
