import type { Run } from '../run.ts'
import type { FeedEntry, LogSource } from '../types.ts'
import { toEntrySkill } from './wanted-entries.ts'

/**
 * Finds the versions that the filter `verified` excludes, each with a sentence that explains this. Each skill is
 * requested once, because the log does not state whether an owner is verified.
 */
export async function findUnverified(
  run: Run,
  source: LogSource,
  entries: readonly FeedEntry[],
): Promise<Map<FeedEntry, string>> {
  const reasons = new Map<FeedEntry, string>()
  if (!run.upstream.settings.filters.verified) return reasons
  const versions = entries.filter(({ type }) => type === 'version')
  for (const [fullName, some] of Map.groupBy(versions, toEntrySkill)) {
    const reason = await explainUnverified(source, fullName)
    if (reason !== undefined) for (const entry of some) reasons.set(entry, reason)
  }
  return reasons
}

async function explainUnverified(source: LogSource, fullName: string): Promise<string | undefined> {
  const isVerified = await source.isVerified?.(fullName)
  if (isVerified === undefined) return 'The mirror cannot check whether the owner of the skill is verified.'
  return isVerified ? undefined : 'Its owner is not verified upstream.'
}
