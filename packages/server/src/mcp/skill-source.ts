import { ProtocolError, ProtocolErrorCode, type Resource } from '@modelcontextprotocol/server'
import type { Skill, SkillReadResult, SkillSource } from '@modelcontextprotocol/server/ext/skills'
import { readBytes } from '@skillstead/skill-format/archives'
import type { Content, RegistryApi } from '@skillstead/protocol'
import { catalogueOf, type Catalogue } from './catalogue.ts'
import { isAbsent, toProtocolError, type OnError } from './failures.ts'
import { toEntries } from './skill-entries.ts'
import { parseSkillUri, toSkillUri } from './skill-uris.ts'

interface SourceOptions {
  readonly catalogue: Catalogue | undefined
  readonly pageSize: number
  readonly onError: OnError
}

/** Maximum of `resources/list`: hosts without the extension have no other list, and this server does not page it. */
const listedResourcesMax = 100

/**
 * The skills of a registry for the MCP extension: most downloaded first, always the latest version. Skills that hosts
 * would refuse are left out here; the tools still find them.
 */
export function createSkillSource(api: RegistryApi, options: SourceOptions): SkillSource {
  const { pageSize, onError } = options
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
    list: ({ cursor }) => told(listEntries(catalogue, pageSize, cursor)),
    get: (uri) => told(getEntry(api, calls, uri)),
    read: (uri) => told(readResource(api, uri)),
    listResources: () => told(listResources(catalogue)),
  }
}

async function listEntries(catalogue: Catalogue, pageSize: number, cursor: string | undefined) {
  const page = parseCursor(cursor)
  const { skills, totalPages } = await catalogue.listSkills(page, pageSize)
  const entries = await toEntries(skills, catalogue.readDocuments)
  return page < totalPages ? { skills: entries, nextCursor: `${page + 1}` } : { skills: entries }
}

function parseCursor(cursor = '1'): number {
  if (/^[1-9]\d{0,8}$/.test(cursor)) return Number(cursor)
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor is not one that this server returned.')
}

async function getEntry(api: RegistryApi, { readDocuments }: Catalogue, uri: string): Promise<Skill | undefined> {
  const file = parseSkillUri(uri)
  if (file?.path !== 'SKILL.md') return undefined
  const skill = await unlessAbsent(api.getSkill({ name: file.fullName }))
  if (!skill) return undefined
  if (skill.fullName === file.fullName) {
    const [entry] = await toEntries([{ ...skill, version: skill.latestVersion }], readDocuments)
    return entry
  }
  const now = toSkillUri({ fullName: skill.fullName, path: 'SKILL.md' })
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The skill has a new owner; it is now at ${now}`)
}

/** Reading SKILL.md counts as a download, as in the API; reading other files does not. */
async function readResource(api: RegistryApi, uri: string): Promise<SkillReadResult | undefined> {
  const file = parseSkillUri(uri)
  if (!file) return undefined
  const { fullName: name, path } = file
  const content = await unlessAbsent(path === 'SKILL.md' ? api.getSkillMd({ name }) : api.getFile({ name, path }))
  return content && toReadResult(content)
}

/** Send text only if it round-trips, because digests are over the bytes, and if it takes no more space than base64. */
async function toReadResult(content: Content): Promise<SkillReadResult> {
  const bytes = await readBytes(content)
  const mimeType = content.contentType.split(';', 1)[0]
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return isCheapText(bytes) ? { text, mimeType } : { bytes, mimeType }
  } catch {
    return { bytes, mimeType }
  }
}

/** JSON writes most control characters as six characters: a file of 10 MiB would become a response of 60 MiB. */
function isCheapText(bytes: Uint8Array): boolean {
  let controls = 0
  for (const byte of bytes) if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) controls += 1
  return controls * 5 <= bytes.length
}

async function listResources(catalogue: Catalogue): Promise<Resource[]> {
  const skills = await catalogue.listNames(listedResourcesMax)
  return skills.map(({ fullName, description }) => ({
    uri: toSkillUri({ fullName, path: 'SKILL.md' }),
    name: fullName,
    description,
    mimeType: 'text/markdown',
  }))
}

async function unlessAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}
