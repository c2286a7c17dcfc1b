import { firstIssueOnly } from '@skillstead/protocol'
import * as v from 'valibot'
import type { Unreadable } from '../import/records.ts'
import type { Sample } from './samples.ts'

/**
 * A record of samples, `{ id, files }`, or of a corpus, which has SKILL.md as a separate field. Unknown fields are
 * ignored.
 */
const Record = v.object({
  id: v.pipe(v.string(), v.minLength(1)),
  skillMd: v.nullish(v.string()),
  skillMdB64: v.nullish(v.string()),
  files: v.nullish(v.array(v.object({ path: v.pipe(v.string(), v.minLength(1)), text: v.nullish(v.string()) }))),
})

/** The sample of a record. Files without content in the record are left out. */
export function readSample(value: unknown, number: number): Sample | Unreadable {
  const parsed = v.safeParse(Record, value, firstIssueOnly)
  if (!parsed.success) {
    const field = v.getDotPath(parsed.issues[0])
    const reason = field ? `The record's \`${field}\` is missing or of the wrong type.` : 'The line is no JSON object.'
    return { id: `line ${number}`, reason }
  }
  const { id, skillMd, skillMdB64, files } = parsed.output
  const own = skillMdB64 ? Buffer.from(skillMdB64, 'base64') : skillMd == null ? undefined : Buffer.from(skillMd)
  const all = [
    ...(own ? [{ path: 'SKILL.md', bytes: own }] : []),
    ...(files ?? []).flatMap(({ path, text }) => (text == null ? [] : [{ path, bytes: Buffer.from(text) }])),
  ]
  return all.length > 0 ? { id, files: all } : { id, reason: 'The record contains no text.' }
}
