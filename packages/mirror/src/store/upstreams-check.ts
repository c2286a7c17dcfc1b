import type { ExtensionCheck } from '@skillstead/core'
import { checkUpstreamLog } from './check-upstream-log.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** Checks the stored logs of upstreams against the checkpoints that the upstreams signed. */
export const upstreamsCheck: ExtensionCheck = {
  name: 'mirrors',
  async run(db, { progress, fault }) {
    const upstreams = await withUpstreams(db).selectFrom('upstreams').selectAll().orderBy('name').execute()
    for (const upstream of upstreams) {
      progress(upstream.name)
      const problem = await checkUpstreamLog(db, upstream)
      if (problem) fault(`Upstream ${upstream.name}: ${problem}`)
      if (!areJson(upstream)) fault(`Upstream ${upstream.name}: its row contains invalid JSON.`)
    }
    const alarms = upstreams.filter(({ alarm }) => alarm !== null).length
    const also = alarms === 0 ? '' : ` ${alarms} are paused. See mirror status.`
    return {
      sound:
        upstreams.length === 0
          ? 'There are no upstreams.'
          : `The stored logs of ${upstreams.length} upstreams match their signed checkpoints.${also}`,
      advice: 'Remove the upstream with mirror remove and add it again: mirrored skills stay and are verified again.',
    }
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
