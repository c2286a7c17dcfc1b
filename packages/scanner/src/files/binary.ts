import type { EngineRuleId } from '../rules/engine-rules.ts'
import { findForm, isDisguised, type Form } from './file-forms.ts'
import { readPdf } from './pdf-text.ts'
import { isTar } from './tar-entries.ts'
import { isOpaque, isText, readTextsOf, toUtf8Texts, extractTextRuns } from './text-of-bytes.ts'
import { findEmbedded, unpackGzip, unpackTar, unpackZip, type UnpackBudget, type Unpacked } from './unpack.ts'
import { hasReader, readMetadata } from './well-formed.ts'
import { regexWith } from '../text/regex.ts'

export interface BinaryFile {
  readonly path: string
  readonly bytes: Uint8Array
}

export interface BinaryReport {
  /** The texts that a reader or an interpreter could see in the file. */
  readonly texts: readonly string[]
  /** Words in the headers, metadata and other bytes of a file whose structure was parsed to its end. Default: none. */
  readonly words?: readonly string[]
  readonly found: readonly EngineRuleId[]
  /** The files in the file, if it is an archive. Default: none. */
  readonly inner?: readonly BinaryFile[]
  /** Why a part of the file was not inspected, as a sentence. */
  readonly cut?: string | undefined
}

/**
 * Whether a file's name is that of an archive, an image or a font, of which a scan reads only the words. All bytes of
 * other files are scanned as text, because shells may run them and agents may read them.
 */
function isNamedBinary(path: string): boolean {
  // The content of a gzip has no name of its own.
  return regexWith('i')`\.(t?gz!/[^/]*|zip|jar|war|whl|egg|apk|xpi|vsix|nupkg|docx|xlsx|pptx|od[tsp]|epub|tar|tgz|gz|
    png|jpe?g|gif|webp|ico|bmp|tiff?|avif|woff2?|ttf|otf|ttc)$`.test(path)
}

/**
 * Inspects the bytes of a file by content, not by name, because programs run, show or unpack them by content. A format
 * counts only if its structure was parsed to its end: otherwise the file may also be a text, and is scanned as one.
 */
export function inspectBytes(file: BinaryFile, paths: ReadonlySet<string>, budget: UnpackBudget): BinaryReport {
  const { path, bytes } = file
  const form = findForm(bytes)
  const found: EngineRuleId[] = []
  if (isBytecodeAlone(path, paths)) found.push('bytecode-without-source')
  if (form?.kind === 'program') found.push(form.endings!.test(path) ? 'executable-file' : 'disguised-executable')
  else if (isDisguised(path, form, bytes) || (form && form.name !== 'zip' && endsAsZip(bytes)))
    found.push('disguised-file')
  const unpacked = unpackBinary(file, form, budget)
  if (unpacked) return toArchiveReport(file, unpacked, found)
  if (form?.kind === 'program' && !isText(bytes)) return { texts: [], found }
  const texts = readTextsOf(bytes)
  if (form?.kind === 'archive') return { texts, found, cut: `The scan cannot open ${form.name} archives.` }
  if (form && hasReader(form.name)) {
    const metadata = readMetadata(form.name, bytes, budget)
    const problem = `It begins like a ${form.name} ${form.kind}, but is not well-formed or expands to too much data.`
    return { ...toReadings(path, bytes, metadata && [bytes, ...metadata]), found, cut: metadata ? undefined : problem }
  }
  if (form?.name === 'pdf') {
    const { text, cut } = readPdf(bytes, budget)
    return { texts, words: text ? [text] : [], found, cut }
  }
  if (form) return { texts, found }
  const { inner, cut } = findEmbedded(path, bytes, budget)
  const unread = isOpaque(bytes) ? 'Its format is unknown, and most of it is not text.' : undefined
  return { texts, found, inner, cut: cut ?? unread }
}

/** `parts`: the parts of a completely parsed file that are scanned for words; undefined if parsing failed. */
function toReadings(path: string, bytes: Uint8Array, parts: readonly Uint8Array[] | undefined) {
  const gap = Buffer.from('\n\n')
  const words = toUtf8Texts(Buffer.concat((parts ?? []).flatMap((part) => [part, gap]))).map(extractTextRuns)
  return { texts: parts && isNamedBinary(path) ? [] : readTextsOf(bytes), words: [...new Set(words)].filter(Boolean) }
}

function unpackBinary({ path, bytes }: BinaryFile, form: Form | undefined, budget: UnpackBudget): Unpacked | undefined {
  if (form?.name === 'zip' || endsAsZip(bytes)) return unpackZip(bytes, budget)
  if (form?.name === 'gzip') return unpackGzip(path, bytes, budget)
  return isTar(bytes) ? unpackTar(bytes, budget) : undefined
}

const endRecordBytes = 22
const commentBytesMax = 0xffff

/** Zip readers search for the record at the end, whatever precedes the archive. */
function endsAsZip(bytes: Uint8Array): boolean {
  const end = bytes.subarray(-(endRecordBytes + commentBytesMax))
  const buffer = Buffer.from(end.buffer, end.byteOffset, end.length)
  const at = buffer.lastIndexOf('PK\x05\x06', buffer.length, 'latin1')
  const left = buffer.length - at - endRecordBytes
  return at !== -1 && left >= 0 && buffer.readUInt16LE(at + 20) === left
}

function toArchiveReport(
  { path, bytes }: BinaryFile,
  { entries, rest, cut }: Unpacked,
  found: readonly EngineRuleId[],
): BinaryReport {
  const isLocked = entries.some((entry) => entry.bytes === undefined)
  const hasProgram = documentPattern.test(path) && entries.some(({ name }) => programPattern.test(name))
  const packed: EngineRuleId[] = []
  if (isLocked) packed.push('encrypted-archive')
  if (hasProgram) packed.push('program-in-document')
  return {
    ...toReadings(path, bytes, cut === undefined ? [rest] : undefined),
    found: [...found, ...packed],
    inner: entries.flatMap((entry) => (entry.bytes ? [{ path: `${path}!/${entry.name}`, bytes: entry.bytes }] : [])),
    cut: cut === undefined ? undefined : `Not all of the archive was inspected. ${cut}`,
  }
}

const programPattern = /\.(?:exe|dll|scr|com|bat|cmd|ps1|vbs|vbe|jse?|hta|jar|sh|elf|lnk|py)$|(?:^|\/)vbaproject\.bin$/i
const documentPattern = /\.(?:doc|xls|ppt|od)\w{1,2}$/i

/** `a.pyc`, or `__pycache__/a.cpython-313.pyc`, without an `a.py`. */
function isBytecodeAlone(path: string, paths: ReadonlySet<string>): boolean {
  const found = /^(?<dir>(?:.*\/)?)(?<name>[^/]+?)(?:\.cpython-\d+(?:\.opt-\d)?)?\.py[co]$/.exec(path)
  if (!found) return false
  const { dir, name } = found.groups!
  return !paths.has(`${dir}${name}.py`) && !paths.has(`${dir!.replace(/__pycache__\/$/, '')}${name}.py`)
}
