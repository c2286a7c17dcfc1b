import { createReadStream, statSync } from 'node:fs'
import { createGunzip } from 'node:zlib'
import * as v from 'valibot'
import { decodeText, type Source, type SourceItem } from './records.ts'

/** A line longer than this is no skill; it is skipped as it streams, so that a bomb stays small. */
const lineCharactersMax = 64 * 1024 * 1024

const Name = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String))
const Text = v.nullish(v.string())

/** One line: a skill with its history, as the README of a corpus describes it. What else it holds does not matter. */
const Record = v.object({
  id: v.pipe(v.string(), v.minLength(1)),
  repo: Text,
  path: Text,
  license: Text,
  name: v.nullish(v.union([Name, v.unknown()])),
  skillMd: v.nullish(v.string()),
  skillMdB64: Text,
  files: v.nullish(v.array(v.object({ path: v.string(), text: Text }))),
  versions: v.nullish(v.array(v.object({ skillMd: v.string(), version: Text, date: Text }))),
  clawhub: v.nullish(v.object({ owner: Text })),
})

/** Reads `.ndjson` and `.ndjson.gz`: one JSON record a line. */
export function openNdjson(file: string): Source {
  const { size } = statSync(file)
  const bytes = createReadStream(file)
  const input = file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes
  bytes.once('error', (error) => input.destroy(error))
  return { items: readItems(input), share: () => (size === 0 ? 1 : bytes.bytesRead / size) }
}

async function* readItems(input: AsyncIterable<Buffer>): AsyncGenerator<SourceItem> {
  let number = 0
  for await (const line of readLines(input)) {
    number += 1
    if (line === undefined)
      yield { id: `line ${number}`, reason: `The line is longer than ${lineCharactersMax} characters.` }
    else if (line.trim() !== '') yield readItem(line, number)
  }
}

/** Lines of a stream; undefined for one that is too long, of which nothing is kept. */
async function* readLines(input: AsyncIterable<Buffer>): AsyncGenerator<string | undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  let tooLong = false
  for await (const chunk of input) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = parts.pop()!
    for (const part of parts) {
      yield tooLong ? undefined : part
      tooLong = false
    }
    if (rest.length <= lineCharactersMax) continue
    tooLong = true
    rest = ''
  }
  if (tooLong) yield undefined
  else if (rest !== '') yield rest
}

function readItem(line: string, number: number): SourceItem {
  const parsed = v.safeParse(Record, parseJson(line))
  if (!parsed.success) {
    const [issue] = parsed.issues
    const field = v.getDotPath(issue)
    return {
      id: `line ${number}`,
      reason: field ? `The record's \`${field}\` is missing or of the wrong type.` : 'The line is no JSON object.',
    }
  }
  const record = parsed.output
  const skillMd = record.skillMdB64 ? decodeText(Buffer.from(record.skillMdB64, 'base64')) : record.skillMd
  if (typeof skillMd !== 'string') return { id: record.id, reason: 'The record has no `skillMd`.' }
  const files = record.files ?? []
  const withText = files.filter((file) => typeof file.text === 'string')
  return {
    id: record.id,
    owner: record.clawhub?.owner ?? (record.repo ?? record.id).split('/')[0],
    name: typeof record.name === 'string' ? record.name : undefined,
    path: record.path ?? record.id.slice(record.id.lastIndexOf('//') + 1),
    license: record.license ?? undefined,
    repository: record.repo && /^[\w.-]+\/[\w.-]+$/.test(record.repo) ? `https://github.com/${record.repo}` : undefined,
    history: (record.versions ?? []).map(({ skillMd: text, version, date }) => ({
      skillMd: text,
      version: version ?? undefined,
      publishedAt: toEpochMs(date),
    })),
    skillMd,
    files: withText.map(({ path, text }) => ({ path, bytes: Buffer.from(text!) })),
    filesMissing: files.length - withText.length,
  }
}

function toEpochMs(date: string | null | undefined): number | undefined {
  const at = Date.parse(date ?? '')
  return Number.isNaN(at) ? undefined : at
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
