import { statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { firstIssueOnly, limits, toErrorText } from '@skillstead/protocol'
import { isSkillMd, isUnreadable, openZip, readObjects, type Unreadable } from '@skillstead/skill-format/archives'
import * as v from 'valibot'
import { readLimited, toReadProblem } from './read-limited.ts'
import { readEnclosing, readFolderSkills, type FolderOptions } from './read-skills.ts'
import { isSampleUrl, type Sample } from '../report/sample.ts'
import type { ScanRequest } from './scan-options.ts'

/** Options of {@link openSamples}. */
export interface SampleOptions extends FolderOptions {
  /** The content of the place `-`. */
  readonly stdin: Readable
}

/** Opens places that are no paths, such as URLs; undefined for paths. */
export type OpenPlace = (place: string) => AsyncIterable<Sample | Unreadable> | undefined

/** The samples of all places of a request. A place that cannot be read does not affect the other places. */
export async function* openAll(
  { places, enclosing }: Pick<ScanRequest, 'places' | 'enclosing'>,
  options: SampleOptions,
  openPlace: OpenPlace = refuseUrlSample,
): AsyncGenerator<Sample | Unreadable> {
  if (enclosing) return yield* readEnclosing(places, options)
  for (const place of places) {
    let reason: string | undefined = 'It contains no skills.'
    try {
      for await (const sample of openPlace(place) ?? openSamples(place, options)) {
        reason = undefined
        yield sample
      }
    } catch (error) {
      // The place is removed from the reason, because it is printed before the reason.
      reason = toErrorText(error).replace(`${place} `, () => 'It ')
    }
    if (reason !== undefined) yield { id: place, reason }
  }
}

function refuseUrlSample(place: string): undefined {
  if (isSampleUrl(place)) throw new Error('This command uses no network. Save the file, or use `skillstead scan URL`.')
}

/**
 * Reads the samples of a path: a folder of skills, an archive, records, one file, or standard input. Reads them one by
 * one, so that a large source needs no more memory than a small one. Throws if the source cannot be read.
 */
export async function* openSamples(place: string, options: SampleOptions): AsyncGenerator<Sample | Unreadable> {
  if (place === '-') return yield* readStdinSamples(options.stdin)
  const stats = statSync(place, { throwIfNoEntry: false })
  if (!stats) throw new Error(`${place} does not exist.`)
  if (stats.isDirectory()) return yield* readFolderSkills(place, options)
  if (!stats.isFile()) throw new Error(`${place} is neither a file nor a folder.`)
  if (/\.(?:zip|skill|tgz|tar\.gz)$/i.test(place)) return yield* readArchivedSamples(place)
  if (/\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(place)) return yield* readRecords(place)
  yield await readSampleFile(place)
}

async function readSampleFile(file: string): Promise<Sample> {
  const name = basename(file)
  const isSkill = isSkillMd(name)
  const read = await readLimited(file, limits.fileBytesMax)
  if ('unread' in read) throw new Error(`${file}: ${read.unread}`)
  return {
    id: file,
    files: [{ path: isSkill ? 'SKILL.md' : name, bytes: read.bytes }],
    at: { folder: dirname(file), skillFile: isSkill ? name : 'SKILL.md' },
  }
}

async function* readStdinSamples(stdin: Readable): AsyncGenerator<Sample> {
  const bytes = await buffer(stdin.compose(limitBytes))
  yield { id: '-', files: [{ path: 'SKILL.md', bytes }], at: { container: 'stdin' } }
}

async function* limitBytes(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > limits.fileBytesMax) throw new Error(`Standard input: ${toReadProblem('large')}`)
    yield chunk
  }
}

/** Reads the skills of a zip or tar.gz archive. Throws if it is damaged or malicious. */
async function* readArchivedSamples(file: string): AsyncGenerator<Sample | Unreadable> {
  const type = /\.(?:zip|skill)$/i.test(file) ? 'zip' : 'tar.gz'
  for await (const item of openZip(file, type).items) {
    if (isUnreadable(item)) yield item
    else {
      const skillMd = { path: 'SKILL.md', bytes: Buffer.from(item.skillMd) }
      const { id, omitted, changed } = item
      yield { id, files: [skillMd, ...item.files], at: { container: file }, omitted, changed }
    }
  }
}

/** Reads `.ndjson` and `.ndjson.gz`: one record per line. */
async function* readRecords(file: string): AsyncGenerator<Sample | Unreadable> {
  for await (const { number, value, reason } of readObjects(file, 'scanned')) {
    yield reason === undefined ? readSample(value, number, file) : { id: `line ${number}`, reason }
  }
}

/** A record of samples, `{ id, files }`, or of a corpus, with SKILL.md as a separate field; others are ignored. */
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
