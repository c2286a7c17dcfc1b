import { firstIssueOnly } from '@skillstead/protocol'
import { readObjects, type Unreadable } from '@skillstead/skill-format/archives'
import * as v from 'valibot'
import type { Sample } from './samples.ts'

/** Reads `.ndjson` and `.ndjson.gz`: one record per line. */
export async function* readRecords(file: string): AsyncGenerator<Sample | Unreadable> {
  for await (const { number, value, reason } of readObjects(file, 'scanned')) {
    yield reason === undefined ? readSample(value, number, file) : { id: `line ${number}`, reason }
  }
}

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
function readSample(value: unknown, number: number, file: string): Sample | Unreadable {
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
  return all.length > 0 ? { id, files: all, at: { container: file } } : { id, reason: 'The record contains no text.' }
}
