import type { api } from '../../../api.ts'
import { Badge, Time, type Tone, toWords } from '../../../ui/parts.tsx'

export type Mirror = Awaited<ReturnType<typeof api.getMirror>>

const tones: Record<Mirror['state'], Tone> = {
  current: 'good',
  new: 'plain',
  behind: 'fair',
  syncing: 'fair',
  stopped: 'bad',
}

/** The state of an upstream: its lag, and problems that need attention. */
export function MirrorFacts({ of }: { of: Mirror }) {
  const behind = of.verified - of.applied
  return (
    <>
      <p class="facts">
        <Badge tone={tones[of.state]}>{of.state}</Badge>
        <span>{of.kind}</span>
        <code>{of.location}</code>
        <span>{of.skills.toLocaleString('en')} skills</span>
        {behind > 0 && <span>{behind.toLocaleString('en')} entries behind</span>}
        <span>{of.syncedAt ? <Synced at={of.syncedAt} /> : 'never synced'}</span>
        {of.nextAt && <Time at={of.nextAt} verb="next" />}
        {of.writesWaiting > 0 && <span>{of.writesWaiting} writes wait</span>}
        {of.writesInConflict > 0 && <Badge tone="bad">{of.writesInConflict} writes in conflict</Badge>}
      </p>
      {of.alarm && (
        <p class="notice bad">
          Paused, {toWords(of.alarm.code)}: {of.alarm.message}
        </p>
      )}
      {!of.alarm && of.lastError && (
        <p class="notice fair">
          The last sync failed <Time at={of.lastError.at} />: {of.lastError.message}
        </p>
      )}
    </>
  )
}

function Synced({ at }: { at: string }) {
  return (
    <>
      synced <Time at={at} />
    </>
  )
}
