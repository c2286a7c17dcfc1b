import { ProtocolError, ProtocolErrorCode, type Resource } from '@modelcontextprotocol/server'
import type { Skill, SkillReadResult, SkillSource } from '@modelcontextprotocol/server/ext/skills'
import { readBytes } from '@skillstead/core'
import { RegistryError, type Content, type RegistryApi } from '@skillstead/protocol'
import { isAbsent, toProtocolError, type OnError } from './failures.ts'
import { findEntry } from './skill-entries.ts'
import { parseSkillUri, toSkillUri } from './skill-uris.ts'

interface SourceOptions {
  readonly pageSize: number
  readonly onError: OnError
}

/** What `resources/list` names: hosts without the extension have no other list, and it has no pages. */
const listedResourcesMax = 100

/**
 * The skills of a registry as the MCP extension asks for them: the most downloaded first, every one the latest version.
 * What hosts would refuse is left out, and is found by the tools still.
 */
export function createSkillSource(api: RegistryApi, { pageSize, onError }: SourceOptions): SkillSource {
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw toProtocolError(error, onError)
    }
  }
  return {
    list: ({ cursor }) => told(listEntries(api, pageSize, cursor)),
    get: (uri) => told(getEntry(api, uri)),
    read: (uri) => told(readResource(api, uri)),
    listResources: () => told(listResources(api)),
  }
}

async function listEntries(api: RegistryApi, pageSize: number, cursor: string | undefined) {
  const page = parseCursor(cursor)
  const { skills, totalPages } = await api.searchSkills({ page, limit: pageSize })
  const entries = await Promise.all(skills.map(({ fullName }) => findListed(api, fullName)))
  const listed = entries.filter((entry) => entry !== undefined)
  return page < totalPages ? { skills: listed, nextCursor: `${page + 1}` } : { skills: listed }
}

function parseCursor(cursor = '1'): number {
  if (/^[1-9]\d{0,8}$/.test(cursor)) return Number(cursor)
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor is none that this server gave.')
}

/** What went away since it was found is left out of the list. */
async function findListed(api: RegistryApi, fullName: string): Promise<Skill | undefined> {
  try {
    return await findEntry(api, await api.getSkill({ name: fullName }))
  } catch (error) {
    if (isAbsent(error) || (error instanceof RegistryError && error.code === 'taken_down')) return undefined
    throw error
  }
}

async function getEntry(api: RegistryApi, uri: string): Promise<Skill | undefined> {
  const file = parseSkillUri(uri)
  if (file?.path !== 'SKILL.md') return undefined
  const skill = await unlessAbsent(api.getSkill({ name: file.fullName }))
  if (!skill) return undefined
  if (skill.fullName === file.fullName) return unlessAbsent(findEntry(api, skill))
  const now = toSkillUri({ fullName: skill.fullName, path: 'SKILL.md' })
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The skill has another owner now; it is served at ${now}`)
}

/** The document counts as a download, like everywhere; the files beside it do not. */
async function readResource(api: RegistryApi, uri: string): Promise<SkillReadResult | undefined> {
  const file = parseSkillUri(uri)
  if (!file) return undefined
  const { fullName: name, path } = file
  const content = await unlessAbsent(path === 'SKILL.md' ? api.getSkillMd({ name }) : api.getFile({ name, path }))
  return content && toReadResult(content)
}

/** As text only where that loses nothing: digests are over the bytes. */
async function toReadResult(content: Content): Promise<SkillReadResult> {
  const bytes = await readBytes(content)
  const mimeType = content.contentType.split(';', 1)[0]
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), mimeType }
  } catch {
    return { bytes, mimeType }
  }
}

async function listResources(api: RegistryApi): Promise<Resource[]> {
  const { skills } = await api.searchSkills({ limit: listedResourcesMax })
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
