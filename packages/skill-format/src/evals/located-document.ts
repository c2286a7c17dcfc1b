import { parseForeignJson, toErrorText } from '@skillstead/protocol'
import * as v from 'valibot'
import { isNode } from 'yaml'
import { isUtf8 } from 'node:buffer'
import { parseUniqueJson } from '../archives/mcp-json.ts'
import { findFrontmatter } from '../skill-md/find-frontmatter.ts'
import { parseYaml, toYamlSource } from '../skill-md/parse-yaml.ts'
import { caseLimits, type CaseFile } from './eval-case.ts'

/** A fault of a document, with its line where that is known. The message is a sentence. */
export class CaseError extends Error {
  override readonly name = 'CaseError'
  readonly line: number | undefined

  constructor(message: string, line?: number) {
    super(message)
    this.line = line
  }
}

type Key = string | number

/** A parsed document that finds the lines of its values. */
export interface LocatedDocument {
  readonly value: unknown
  /** The line of the value at `path`, or of the nearest value around it that has a line. */
  lineOf(path: readonly Key[]): number | undefined
}

/** The text of a file. Throws {@link CaseError} for a file that cannot be read, or is not UTF-8. */
export function readCaseText({ bytes }: CaseFile): string {
  const { documentBytesMax } = caseLimits
  if (!bytes || bytes.length > documentBytesMax)
    throw new CaseError(`The file is larger than ${documentBytesMax / 1024} KiB, or cannot be read. Make it smaller.`)
  if (!isUtf8(bytes)) throw new CaseError('The file is not UTF-8. Save it as UTF-8.')
  return new TextDecoder().decode(bytes)
}

/** Parses JSON. Throws {@link CaseError} for other text, and for an object with a key twice. */
export function readJsonDocument(text: string): LocatedDocument {
  try {
    // JSON is read as YAML for the lines of values, which the JSON parser does not give.
    return { value: parseUniqueJson(text), lineOf: toLineFinder(text, 1) }
  } catch (error) {
    const message = toErrorText(error)
    const line = /\(line (\d+) column/.exec(message)?.[1]
    const isSyntax = error instanceof SyntaxError && error.name === 'SyntaxError'
    throw new CaseError(
      isSyntax ? 'The file is not JSON. Write UTF-8 without comments and trailing commas.' : message,
      line === undefined ? undefined : Number(line),
    )
  }
}

/**
 * Parses YAML. `firstLine` is the line of the file at which the YAML begins. Throws {@link CaseError} for other text.
 */
export function readYamlDocument(written: string, firstLine = 1): LocatedDocument {
  const text = toYamlSource(written)
  const document = parseYaml(text)
  if (!document) throw new CaseError('The YAML nests too deep, or cannot be read.', firstLine)
  const [error] = document.errors
  if (error) throw new CaseError('This line is not valid YAML.', lineAt(text, error.pos[0]) + firstLine - 1)
  try {
    // The round trip limits the values, and replaces aliases by their values.
    const value = parseForeignJson(JSON.stringify(document.toJS({ maxAliasCount: 100 }) ?? null), { valuesMax: 10_000 })
    return { value, lineOf: toLineFinder(text, firstLine) }
  } catch {
    throw new CaseError('The YAML has too many values or aliases.', firstLine)
  }
}

/** The frontmatter of a Markdown file, and its trimmed body; without frontmatter an empty object. */
export function readMarkdown(text: string): { document: LocatedDocument; body: string } {
  const { kind, start, end, line, bodyStart } = findFrontmatter(text)
  if (kind === 'missing') return { document: { value: {}, lineOf: () => 1 }, body: text.replace(/^\uFEFF/, '').trim() }
  if (kind === 'unterminated') throw new CaseError('The frontmatter has no closing line of `---`.', line)
  const document = readYamlDocument(text.slice(start, end), line)
  return { document: { ...document, value: document.value ?? {} }, body: text.slice(bodyStart).trim() }
}

/** Validates a part of a document. Throws {@link CaseError} that names the first field at fault, with its line. */
export function validate<Schema extends v.GenericSchema>(
  schema: Schema,
  { value, lineOf }: LocatedDocument,
  at: readonly Key[] = [],
): v.InferOutput<Schema> {
  const part = at.reduce<unknown>((whole, key) => (whole as Record<Key, unknown>)[key], value)
  const { success, output, issues } = v.safeParse(schema, part, { abortEarly: true, abortPipeEarly: true })
  if (success) return output
  const [issue] = issues
  const path = [...at, ...(issue.path?.map(({ key }) => key as Key) ?? [])]
  const field = path.map((key) => String(key).slice(0, 64)).join('.')
  const isMissing = issue.received === 'undefined' && issue.kind === 'schema'
  const isUnknown = issue.type === 'strict_object' && issue.expected === 'never'
  const fault = isUnknown ? 'is not a field of the format. Remove it.' : isMissing ? 'is missing.' : issue.message
  throw new CaseError(field === '' ? `The document ${fault}` : `${field}: ${fault}`, lineOf(path))
}

/** Returns a function that finds lines. It parses the text on first use, because few documents have a fault. */
function toLineFinder(text: string, firstLine: number): LocatedDocument['lineOf'] {
  let document: ReturnType<typeof parseYaml>
  return (path) => {
    document ??= parseYaml(text)
    for (let length = path.length; document && length >= 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true)
      if (isNode(node) && node.range) return lineAt(text, node.range[0]) + firstLine - 1
    }
    return undefined
  }
}

function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1
  return line
}
