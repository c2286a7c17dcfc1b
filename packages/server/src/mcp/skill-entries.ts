import {
  SkillCatalogError,
  skillEntry,
  type Skill,
  type SkillFrontmatter,
} from '@modelcontextprotocol/server/ext/skills'
import { readBytes } from '@skillstead/core'
import type { RegistryApi, SkillDetails } from '@skillstead/protocol'
import { toSkillUri } from './skill-uris.ts'

/** Of each document that was read, by its digest: what it says of itself never changes. */
const frontmatters = new Map<string, SkillFrontmatter | undefined>()
const frontmattersMax = 2000
/** As JSON. Lists hold many, so one that could fill them alone is left out. */
const frontmatterCharactersMax = 65_536

/**
 * A skill as the extension lists it: its frontmatter as hosts read it, and its files with their digests. Undefined where
 * hosts would refuse it: no frontmatter, another name than that of its folder, more than the format takes.
 */
export async function findEntry(api: RegistryApi, skill: SkillDetails): Promise<Skill | undefined> {
  const document = skill.files.find(({ path }) => path === 'SKILL.md')
  if (!document) return undefined
  const frontmatter = await findFrontmatter(api, skill, document.digest)
  if (!frontmatter) return undefined
  const { fullName } = skill
  const resources = skill.files.map(({ path, digest, size }) => ({ uri: toSkillUri({ fullName, path }), digest, size }))
  return { uri: toSkillUri({ fullName, path: 'SKILL.md' }), frontmatter, resources }
}

async function findFrontmatter(
  api: RegistryApi,
  { fullName, name, latestVersion: version }: SkillDetails,
  digest: string,
): Promise<SkillFrontmatter | undefined> {
  // Whether it is valid depends on the name as well.
  const key = `${digest} ${name}`
  if (!frontmatters.has(key)) {
    const bytes = await readBytes(await api.getFile({ name: fullName, path: 'SKILL.md', version }))
    const frontmatter = await parseFrontmatter(fullName, bytes)
    if (frontmatters.size >= frontmattersMax) frontmatters.delete(frontmatters.keys().next().value!)
    frontmatters.set(key, frontmatter)
  }
  return frontmatters.get(key)
}

/** Read by the reader that hosts have, which is stricter than ours: what they hold against it decides. */
async function parseFrontmatter(fullName: string, bytes: Uint8Array): Promise<SkillFrontmatter | undefined> {
  try {
    const { frontmatter } = await skillEntry(fullName, { 'SKILL.md': bytes })
    return JSON.stringify(frontmatter).length > frontmatterCharactersMax ? undefined : frontmatter
  } catch (error) {
    if (error instanceof SkillCatalogError) return undefined
    throw error
  }
}
