import { checkUpstreamLog } from '@skillstead/core/internal'
import { type Check } from './finding.ts'

/** What is here of the logs of upstreams: as the checkpoints that vouch for them say. */
export const mirrorsCheck: Check = {
  name: 'mirrors',
  async run({ database }, tell, faults) {
    const upstreams = await database.read.selectFrom('upstreams').selectAll().orderBy('name').execute()
    for (const upstream of upstreams) {
      tell(upstream.name)
      const problem = await checkUpstreamLog(database.read, upstream)
      if (problem) faults.add(`Upstream ${upstream.name}: ${problem}`)
      if (!areJson(upstream)) faults.add(`Upstream ${upstream.name}: what is kept of it is no JSON.`)
    }
    const alarms = upstreams.filter(({ alarm }) => alarm !== null).length
    const also = alarms === 0 ? '' : ` ${alarms} stand still over an alarm: see mirror status.`
    return faults.toOutcome(
      upstreams.length === 0
        ? 'No upstream is followed.'
        : `The logs of ${upstreams.length} upstreams are as they were vouched for.${also}`,
      'Remove the upstream with mirror remove and add it again: what is mirrored stays, and is verified anew.',
    )
  },
}

function areJson({
  settings,
  keys,
  cursor,
  report,
}: Record<'settings' | 'keys' | 'cursor' | 'report', string>): boolean {
  try {
    for (const text of [settings, keys, cursor, report]) JSON.parse(text)
    return true
  } catch {
    return false
  }
}
