import { limits } from '@skillstead/protocol'
import type { AddedRules } from '../rules/added-rules.ts'
import { readLimited } from './read-limited.ts'
import type { ScanRequest } from './scan-options.ts'

/** Reads and verifies the bundle of rules of a request. Throws an error that names the file and what is wrong. */
export async function readRulesFile({ rules, rulesKey }: ScanRequest): Promise<AddedRules | undefined> {
  if (rules === undefined || rulesKey === undefined) return undefined
  const read = await readLimited(rules, limits.fileBytesMax)
  if ('unread' in read) throw new Error(`The rules in ${rules} cannot be read. ${read.unread}`)
  const { verifyBundle } = await import('../bundle.ts')
  try {
    return await verifyBundle(new TextDecoder().decode(read.bytes), [rulesKey])
  } catch (cause) {
    throw new Error(`The rules in ${rules} cannot be used. ${(cause as Error).message}`, { cause })
  }
}
