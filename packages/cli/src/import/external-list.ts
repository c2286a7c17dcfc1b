import { parseForeignJson, type endpoints, type Input, attempt, isRecord, toErrorText } from '@skillstead/protocol'

type ExternalInput = Input<(typeof endpoints)['addExternal']>

/**
 * An entry of a list with its number, from 1: its line in the file or its index in a JSON array; or the reason why it
 * is invalid.
 */
export type ListedSkill =
  | { readonly line: number; readonly skill: ExternalInput }
  | { readonly line: number; readonly reason: string }

const fields = ['url', 'name', 'description', 'author', 'installs'] as const

/**
 * Reads a list of skills: a JSON array, or lines with a URL or a record `{ url, name?, description?, author?, installs?
 * }`. Skips empty lines and lines that begin with `#`, and ignores other fields of records. Throws for an array that
 * cannot be parsed.
 */
export function readExternalList(text: string): ListedSkill[] {
  const list = text.replace(/^\uFEFF/, '')
  if (list.trimStart().startsWith('[')) return readArray(list)
  return list.split(/\r\n|\r|\n/).flatMap((written, index) => {
    const line = written.trim()
    if (line === '' || line.startsWith('#')) return []
    return [{ line: index + 1, ...(line.startsWith('{') ? parseListLine(line) : { skill: { url: line } }) }]
  })
}

function readArray(text: string): ListedSkill[] {
  return parseArray(text).map((record, index) => ({
    line: index + 1,
    ...(typeof record === 'string' ? { skill: { url: record } } : toExternalInput(record)),
  }))
}

function parseArray(text: string): unknown[] {
  try {
    return parseForeignJson(text) as unknown[]
  } catch (error) {
    const reason = toErrorText(error)
    const sentence = `The list starts like a JSON array but cannot be parsed: ${reason}. Fix it, or write one URL per line.`
    throw new Error(sentence, { cause: error })
  }
}

function parseListLine(line: string): { skill: ExternalInput } | { reason: string } {
  const record = attempt(() => parseForeignJson(line))
  return record === undefined ? { reason: 'This is not JSON.' } : toExternalInput(record)
}

/** Picks the known fields; the registry validates their values. */
function toExternalInput(record: unknown): { skill: ExternalInput } | { reason: string } {
  if (!isRecord(record) || typeof record.url !== 'string') return { reason: 'This is not a record with a url.' }
  const known = fields.filter((field) => record[field] != null)
  return { skill: { url: record.url, ...Object.fromEntries(known.map((field) => [field, record[field]])) } }
}
