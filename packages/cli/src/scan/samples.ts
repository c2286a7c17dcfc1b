import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { OutgoingOptions } from '@skillstead/core'
import { firstIssueOnly, limits } from '@skillstead/protocol'
import {
  isSkillMd,
  isUnreadable,
  openFolder,
  openZip,
  type Source,
  type Unreadable,
} from '@skillstead/skill-format/archives'
import * as v from 'valibot'
import { readObjects } from '../import/ndjson.ts'
import type { Io } from '../terminal/io.ts'

/** A skill, or some of its files, to scan. */
export interface Sample {
  /** Identifies the sample in messages. */
  readonly id: string
  /** SKILL.md first, if there is one. */
  readonly files: readonly { readonly path: string; readonly bytes: Uint8Array }[]
}

/**
 * Reads the samples of a path or URL: a folder of skills, an archive, records, one file, or standard input. Reads them
 * one by one, so that a large source needs no more memory than a small one. Throws if the source cannot be read.
 */
export function openSamples(
  place: string,
  outgoing: OutgoingOptions,
  { stdin }: Io,
): AsyncIterable<Sample | Unreadable> {
  if (place === '-') return readInput(stdin)
  if (/^https?:\/\//i.test(place)) return readAddress(place, outgoing)
  if (!existsSync(place)) throw new Error(`${place} does not exist.`)
  if (statSync(place).isDirectory()) return fromSource(openFolder(place))
  if (/\.zip$/i.test(place)) return fromSource(openZip(place))
  if (/\.(tgz|tar\.gz)$/i.test(place)) return fromSource(openZip(place, 'tar.gz'))
  if (/\.(ndjson|jsonl)(\.gz)?$/i.test(place)) return readRecords(place)
  return readOne(place)
}

async function* fromSource({ items }: Source): AsyncGenerator<Sample | Unreadable> {
  for await (const item of items) {
    if (isUnreadable(item)) yield item
    else yield { id: item.id, files: [{ path: 'SKILL.md', bytes: Buffer.from(item.skillMd) }, ...item.files] }
  }
}

async function* readRecords(file: string): AsyncGenerator<Sample | Unreadable> {
  for await (const { number, value, reason } of readObjects(file, 'scanned')) {
    yield reason === undefined ? readSample(value, number) : { id: `line ${number}`, reason }
  }
}

async function* readOne(file: string): AsyncGenerator<Sample | Unreadable> {
  if (statSync(file).size > limits.fileBytesMax) throw tooLarge(file)
  const name = basename(file)
  yield { id: file, files: [{ path: isSkillMd(name) ? 'SKILL.md' : name, bytes: await readFile(file) }] }
}

async function* readInput(stdin: Io['stdin']): AsyncGenerator<Sample> {
  const bytes = await buffer(stdin)
  if (bytes.length > limits.fileBytesMax) throw tooLarge('Standard input')
  yield { id: '-', files: [{ path: 'SKILL.md', bytes }] }
}

async function* readAddress(url: string, outgoing: OutgoingOptions): AsyncGenerator<Sample> {
  const { readExternalText } = await import('@skillstead/core/internal')
  const { address, text } = await readExternalText(url, outgoing)
  yield { id: address, files: [{ path: 'SKILL.md', bytes: Buffer.from(text) }] }
}

function tooLarge(what: string): Error {
  return new Error(
    `${what} is larger than ${limits.fileBytesMax / 1024 / 1024} MiB, the maximum for a file of a skill.`,
  )
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
function readSample(value: unknown, number: number): Sample | Unreadable {
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
