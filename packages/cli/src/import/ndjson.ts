import { createReadStream, statSync, type ReadStream } from 'node:fs'
import { firstIssueOnly } from '@skillstead/protocol'
import {
  decodeText,
  findTextProblem,
  hasValidName,
  isUnreadable,
  type ReadObject,
  readObjects,
  selectListed,
  type Source,
  type SourceItem,
} from '@skillstead/skill-format/archives'
import * as v from 'valibot'

const Name = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String))
const Text = v.nullish(v.string())

/** One record: a skill with its history, as described in the README of a corpus. Unknown fields are ignored. */
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

/** Reads `.ndjson` and `.ndjson.gz`: one JSON record per line. Records with a valid name come first. */
export function openNdjson(file: string): Source {
  const stats = statSync(file)
  const { size } = stats
  const bytes = createReadStream(file)
  // The lines of a file are read twice, which a pipe does not allow.
  const items = stats.isFile() ? readCorpusItems(bytes, file) : readCorpusLines(readObjects(file, 'imported', bytes))
  return { items, share: () => (size === 0 ? 1 : bytes.bytesRead / size) }
}

/** Reads records with a valid name first, and lines of other records twice, so that no record waits in memory. */
async function* readCorpusItems(bytes: ReadStream, file: string): AsyncGenerator<SourceItem> {
  const later = new Set<number>()
  let failure: unknown
  try {
    for await (const line of readObjects(file, 'imported', bytes)) {
      const item = readCorpusLine(line)
      if (isUnreadable(item) || hasValidName(item)) yield item
      else later.add(line.number)
    }
  } catch (error) {
    failure = error
  }
  if (later.size > 0) {
    const again = createReadStream(file)
    yield* readCorpusLines(readObjects(file, 'imported', again, (number) => later.has(number)))
  }
  if (failure !== undefined) throw failure
}

async function* readCorpusLines(lines: AsyncIterable<ReadObject>): AsyncGenerator<SourceItem> {
  for await (const line of lines) yield readCorpusLine(line)
}

function readCorpusLine({ number, value, reason }: ReadObject): SourceItem {
  return reason === undefined ? parseCorpusRecord(value, number) : { id: `line ${number}`, reason }
}

function parseCorpusRecord(value: unknown, number: number): SourceItem {
  const parsed = v.safeParse(Record, value, firstIssueOnly)
  if (!parsed.success) {
    const [issue] = parsed.issues
    const field = v.getDotPath(issue)
    return {
      id: `line ${number}`,
      reason: field ? `The record's \`${field}\` is missing or of the wrong type.` : 'The line is not a JSON object.',
    }
  }
  const record = parsed.output
  const document = record.skillMdB64 ? Buffer.from(record.skillMdB64, 'base64') : undefined
  const wrong = document && findTextProblem(document)
  if (wrong !== undefined) return { id: record.id, reason: wrong }
  const skillMd = document ? decodeText(document) : record.skillMd
  if (typeof skillMd !== 'string') return { id: record.id, reason: 'The record has no `skillMd`.' }
  const files = record.files ?? []
  const withText = files.filter((file) => typeof file.text === 'string')
  const { files: selected, ...lists } = selectListed(withText)
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
    files: selected.map(({ path, text }) => ({ path, bytes: Buffer.from(text!) })),
    filesMissing: files.length - withText.length,
    ...lists,
  }
}

function toEpochMs(date: string | null | undefined): number | undefined {
  const at = Date.parse(date ?? '')
  return Number.isNaN(at) ? undefined : at
}
