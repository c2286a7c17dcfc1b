import { ProtocolError, ProtocolErrorCode, type Resource } from '@modelcontextprotocol/server'
import type { Skill, SkillReadResult, SkillSource } from '@modelcontextprotocol/server/ext/skills'
import { isSliceOver, nextSlice } from '@skillstead/core/internal'
import { readBytes } from '@skillstead/skill-format/archives'
import { type RegistryApi, attempt, orUndefined, toShortName } from '@skillstead/protocol'
import { catalogueOf, type Catalogue, type SkillPage } from './catalogue.ts'
import { absentCodes, toProtocolError, type OnError } from './failures.ts'
import { toSkillEntries } from './skill-entries.ts'
import { parseSkillUri, toSkillUri } from './skill-uris.ts'

interface SourceOptions {
  readonly catalogue: Catalogue | undefined
  readonly pageSize: number
  readonly onError: OnError
  readonly embed: Embed | undefined
}

/**
 * Keeps a part of a response that is already JSON, and returns a placeholder for it. The function's owner replaces the
 * placeholder in the serialized response, so that large parts are serialized once. JSON escapes nothing in base64.
 */
export type Embed = (json: Buffer) => string

/** Maximum skills listed at once. Those that hosts would refuse are left out, so a page may take several parts. */
const partMax = 100
/** Number of skills whose files are read at once: each skill may have 512 files. */
const readMax = 10
/** A page ends when its entries have this number of characters as JSON. */
const pageCharactersMax = 1_000_000
/** A page also ends after this number of parts, because any number of skills of a catalogue may be left out. */
const partsMax = 10
/** Minimum size of content that bypasses the MCP library and is put into the encoded response. */
const embeddedBytesMin = 65_536

/** A source whose resources can be listed page by page. */
export interface PagedSource extends SkillSource {
  listResourcePage(cursor: string | undefined): Promise<{ resources: Resource[]; nextCursor?: string }>
}

/**
 * The skills of a registry for the skills extension of MCP: most downloaded first, always the latest version. Lists
 * leave out skills that hosts would refuse; the tools still find them.
 */
export function createSkillSource(api: RegistryApi, options: SourceOptions): PagedSource {
  const { pageSize, onError, embed } = options
  const calls = catalogueOf(api)
  const catalogue = options.catalogue ?? calls
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw toProtocolError(error, onError)
    }
  }
  return {
    async list({ cursor }) {
      const { entries: skills, ...next } = await told(
        fillPage(pageSize, cursor, async (page, limit) => {
          const listed = await catalogue.listSkills(page, limit)
          const read = async (from: number, to: number) =>
            toSkillEntries(await listed.readFiles(from, to), catalogue.readDocuments)
          return { ...listed, read }
        }),
      )
      return { skills, ...next }
    },
    get: (uri) => told(getEntry(api, calls, uri)),
    read: (uri) => told(readResource(api, uri, embed)),
    async listResourcePage(cursor) {
      const { entries: resources, ...next } = await told(
        fillPage(pageSize, cursor, async (page, limit) => {
          const listed = await catalogue.listSkills(page, limit)
          const read = async (from: number, to: number) => listed.skills.slice(from, to).map(toResource)
          return { ...listed, read }
        }),
      )
      return { resources, ...next }
    },
  }
}

/**
 * Reads parts of a list until a page has enough entries: hosts read a limited number of pages, so a page must not be
 * short because skills were left out. The cursor is the number of the next part. If the page ends within a part, it is
 * the number of this part, and the number of its skills that are already listed.
 */
async function fillPage<Entry>(
  pageSize: number,
  cursor: string | undefined,
  readPart: (part: number, limit: number) => Promise<Part<Entry>>,
): Promise<{ entries: Entry[]; nextCursor?: string }> {
  const limit = Math.min(pageSize, partMax)
  const entries: Entry[] = []
  const first = parseCursor(cursor)
  let [at, characters] = [first.at, 0]
  for (let part = first.part; ; part++) {
    const { skills, totalPages, read } = await readPart(part, limit)
    while (at < skills.length && characters <= pageCharactersMax) {
      const found = await read(at, at + readMax)
      at += readMax
      entries.push(...found)
      characters += JSON.stringify(found).length
      if (isSliceOver()) await nextSlice()
    }
    if (at < skills.length) return { entries, nextCursor: `${part}.${at}` }
    at = 0
    if (part >= totalPages) return { entries }
    const isFull = entries.length >= pageSize || characters > pageCharactersMax || part - first.part + 1 >= partsMax
    if (isFull) return { entries, nextCursor: `${part + 1}` }
  }
}

interface Part<Entry> extends Pick<SkillPage, 'skills' | 'totalPages'> {
  read(from: number, to: number): Promise<Entry[]>
}

function parseCursor(cursor = '1'): { part: number; at: number } {
  const [, part, at = '0'] = /^([1-9]\d{0,8})(?:\.([1-9]\d?))?$/.exec(cursor) ?? []
  if (part !== undefined) return { part: Number(part), at: Number(at) }
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'This server returned no such cursor. Start the list again without a cursor.',
  )
}

async function getEntry(api: RegistryApi, { readDocuments }: Catalogue, uri: string): Promise<Skill | undefined> {
  const file = parseSkillUri(uri)
  if (file?.path !== 'SKILL.md') return undefined
  const skill = await orUndefined(api.getSkill({ name: file.fullName }), ...absentCodes)
  if (!skill) return undefined
  if (skill.fullName === file.fullName) {
    const [entry] = await toSkillEntries([{ ...skill, version: skill.latestVersion }], readDocuments)
    return entry
  }
  const now = toSkillUri({ fullName: skill.fullName, path: 'SKILL.md' })
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The skill has a new owner; it is now at ${now}`)
}

/** Reads a file of a skill. Reading SKILL.md counts as a download, as in the API; reading other files does not. */
async function readResource(
  api: RegistryApi,
  uri: string,
  embed: Embed | undefined,
): Promise<SkillReadResult | undefined> {
  const file = parseSkillUri(uri)
  if (!file) return undefined
  const { fullName: name, path } = file
  const reading = path === 'SKILL.md' ? api.getSkillMd({ name }) : api.getFile({ name, path })
  const content = await orUndefined(reading, ...absentCodes)
  if (!content) return undefined
  const bytes = await readBytes(content)
  const mimeType = content.contentType.split(';', 1)[0]
  return embed && bytes.byteLength >= embeddedBytesMin
    ? embedLarge(bytes, mimeType, embed)
    : toReadResult(bytes, mimeType)
}

/** Returns text only if it encodes to the same bytes, as digests are over bytes, and base64 is not much shorter. */
function toReadResult(bytes: Uint8Array, mimeType: string | undefined): SkillReadResult {
  const text = attempt(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  return text !== undefined && isCheap(countControls(bytes), bytes) ? { text, mimeType } : { bytes, mimeType }
}

/** Returns a large file with a placeholder as content: copies and checks by the library take a second for 10 MiB. */
async function embedLarge(bytes: Uint8Array, mimeType: string | undefined, embed: Embed): Promise<SkillReadResult> {
  const text = await toJsonText(bytes)
  if (text) return { text: embed(text), mimeType }
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return { bytes: Buffer.from(embed(Buffer.from(base64, 'latin1')), 'base64'), mimeType }
}

const chunkBytes = 262_144

/** The JSON of a text, without its quotes; undefined for bytes that are not UTF-8, or shorter in base64. */
async function toJsonText(bytes: Uint8Array): Promise<Buffer | undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const parts: Buffer[] = []
  let controls = 0
  try {
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const stream = at + chunkBytes < bytes.length
      const chunk = bytes.subarray(at, at + chunkBytes)
      controls += countControls(chunk)
      const text = decoder.decode(chunk, { stream })
      parts.push(Buffer.from(JSON.stringify(text).slice(1, -1)))
      if (isSliceOver()) await nextSlice()
    }
  } catch {
    return undefined
  }
  return isCheap(controls, bytes) ? Buffer.concat(parts) : undefined
}

/** Whether at most a fifth are control characters, six characters each in JSON; above a fifth, base64 is shorter. */
function isCheap(controls: number, { length }: Uint8Array): boolean {
  return controls * 5 <= length
}

/** Counts the control characters that JSON writes as six characters. An iterator would take ten times as long. */
function countControls(bytes: Uint8Array): number {
  let controls = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) controls += 1
  }
  return controls
}

function toResource({ fullName, description }: { fullName: string; description: string }): Resource {
  return {
    uri: toSkillUri({ fullName, path: 'SKILL.md' }),
    // The extension requires the name in the frontmatter.
    name: toShortName(fullName),
    title: fullName,
    description,
    mimeType: 'text/markdown',
  }
}
