import { hash as hashOnce } from 'node:crypto'
import { findForm } from '../files/file-forms.ts'
import { isMarkdown } from '../files/role.ts'
import { isText } from '../files/text-of-bytes.ts'
import { readLineKinds } from './passages.ts'

/** A sentence or line of instructions that a comparison may name. */
export interface Passage {
  readonly path: string
  readonly line: number
  readonly text: string
  /** The hash of the line that contains the passage. */
  readonly hash: string
}

/** What a later version is compared with. Stored with the version, so that a comparison reads no files. */
export interface Outline {
  /** The joined hashes of the distinct lines of Markdown files, up to a limit, of `hashCharacters` characters each. */
  readonly lines: string
  /** Lines that direct the agent to do something beyond the task. */
  readonly directives: readonly Passage[]
  /** Lines that restrict the agent. */
  readonly safeguards: readonly Passage[]
  /** Files that are not text. Images and fonts are left out. */
  readonly binaries: readonly { readonly path: string; readonly digest: string }[]
  /** Parts that were not read, with their digests, so that two versions with other unread parts never look alike. */
  readonly cut: readonly string[]
}

export interface OutlinedFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/** 72 bits: an attacker cannot write a line with the hash of an existing line. */
export const hashCharacters = 12
/** Maximum bytes of a compared file, and of all compared files together. Larger files go to `cut`. */
const fileBytesMax = 256 * 1024
const bytesMax = 1024 * 1024
/** Maximum distinct lines of an outline, because a comparison reads all lines of both versions. */
const linesMax = 4000
const passagesMax = 200
const passageCharactersMax = 160
const binariesMax = 200

/** Reads the outline of a version in linear time. */
export function readOutline(files: readonly OutlinedFile[]): Outline {
  const lines = new Set<string>()
  const directives: Passage[] = []
  const safeguards: Passage[] = []
  const binaries: Outline['binaries'][number][] = []
  const cut: string[] = []
  let left = bytesMax
  for (const { path, bytes } of files) {
    if (!isText(bytes)) {
      const kind = findForm(bytes)?.kind
      if (kind !== 'image' && kind !== 'font') binaries.push({ path, digest: toContentHash(bytes) })
    } else if (isMarkdown(path)) {
      if (bytes.length <= Math.min(left, fileBytesMax)) {
        left -= bytes.length
        outlineLines(path, new TextDecoder().decode(bytes).split('\n'), { lines, directives, safeguards })
      } else cut.push(`${path}: it is too large to compare (sha256:${toContentHash(bytes)})`)
    }
  }
  const compared = [...lines]
  const lists: readonly (readonly [name: string, list: unknown[], most: number])[] = [
    ['lines', compared, linesMax],
    ['binary files', binaries, binariesMax],
    ['instructions', directives, passagesMax],
    ['restrictions', safeguards, passagesMax],
  ]
  for (const [name, list, most] of lists) {
    const rest = list.splice(most)
    if (rest.length === 0) continue
    cut.push(`${rest.length} more ${name} are not compared (sha256:${toContentHash(JSON.stringify(rest))})`)
  }
  return { lines: compared.join(''), directives, safeguards, binaries, cut }
}

interface Found {
  readonly lines: Set<string>
  readonly directives: Passage[]
  readonly safeguards: Passage[]
}

/** Adds the lines of a file that the outline does not contain yet, with the directives and safeguards among them. */
function outlineLines(path: string, all: readonly string[], { lines, directives, safeguards }: Found): void {
  const hasHead = all[0]?.trimEnd() === '---'
  const bodyStart = hasHead ? all.findIndex((line, index) => index > 0 && line.trimEnd() === '---') + 1 : 0
  let isCode = false
  for (const [index, raw] of all.entries()) {
    if (fencePattern.test(raw)) isCode = !isCode
    const line = toOutlineLine(raw)
    if (line === '') continue
    const hash = toContentHash(line.toLowerCase())
    const count = lines.size
    if (lines.add(hash).size === count || count >= linesMax) continue
    const { isDirective, isSafeguard } = readLineKinds(line)
    if (!isDirective && !isSafeguard) continue
    const passage = { path, line: index + 1, text: line.slice(0, passageCharactersMax).toWellFormed(), hash }
    if (isDirective) directives.push(passage)
    if (isSafeguard && !isCode && index >= bodyStart) safeguards.push(passage)
  }
}

/** The outline of a version whose files could not be read. `content` identifies them, so that a change is reported. */
export function toUnreadOutline(content: string): Outline {
  return { lines: '', directives: [], safeguards: [], binaries: [], cut: [`The files were not read (${content})`] }
}

/** The line without outer white space, Markdown marks and invisible characters; empty if it has no letter or digit. */
function toOutlineLine(raw: string): string {
  const trimmed = raw.trim()
  const cleaned = unclean.test(trimmed)
    ? trimmed
        .replace(/[*_`~\p{Cf}]/gu, '')
        .replace(/\s+/g, ' ')
        .trim()
    : trimmed
  const text = cleaned.replace(/^(?:[-+>#|]+\s|\d{1,3}[.)]\s)+/, '')
  return /[\p{L}\p{N}]/u.test(text) ? text : ''
}

const fencePattern = /^\s{0,20}(?:```|~~~)/
/** A mark, repeated spaces, or anything except printable ASCII. Most lines have none, and are not copied. */
const unclean = /[*_`~]| {2}|[^ -~]/

function toContentHash(content: string | Uint8Array): string {
  return hashOnce('sha256', content, 'base64url').slice(0, hashCharacters)
}
