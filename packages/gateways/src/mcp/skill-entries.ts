import {
  SkillCatalogError,
  skillEntry,
  type Skill,
  type SkillFrontmatter,
} from '@modelcontextprotocol/server/ext/skills'
import { isSliceOver, nextSlice, type OfferedSkill } from '@skillstead/core/internal'
import { toSkillUri } from './skill-uris.ts'

/** Maximum length of a frontmatter as JSON. A longer one could fill a page of a list alone: its skill is left out. */
const frontmatterCharactersMax = 65_536
const keptMax = 2000
const keptCharactersMax = 8 * 1024 * 1024

/** Parsed SKILL.md documents by digest and name. They stay valid, because the content of a digest never changes. */
const kept = new Map<string, Reading>()
let keptCharacters = 0

interface Reading {
  /** Undefined for a document that hosts would refuse. */
  readonly frontmatter: SkillFrontmatter | undefined
  readonly characters: number
}

/** Reads the bytes of each skill's SKILL.md, with its digest. Leaves out documents that were deleted. */
export type ReadDocuments = (skills: readonly OfferedSkill[]) => AsyncIterable<[digest: string, bytes: Uint8Array]>

/**
 * Skills in the form of the skills extension of MCP: their frontmatter as hosts parse it, and their files with digests.
 * Leaves out skills that hosts would refuse: without frontmatter, with a name other than that of their folder, or above
 * the limits of the format.
 */
export async function toSkillEntries(skills: readonly OfferedSkill[], readDocuments: ReadDocuments): Promise<Skill[]> {
  const readings = await readOfferedSkills(skills, readDocuments)
  const entries: Skill[] = []
  for (const skill of skills) {
    if (isSliceOver()) await nextSlice()
    const { fullName, files } = skill
    const frontmatter = readings.get(toReadingKey(skill))?.frontmatter
    if (!frontmatter) continue
    const resources = files.map(({ path, digest, size }) => ({ uri: toSkillUri({ fullName, path }), digest, size }))
    entries.push({ uri: toSkillUri({ fullName, path: 'SKILL.md' }), frontmatter, resources })
  }
  return entries
}

/** The SKILL.md in the files of a skill. */
export function findDocument({ files }: OfferedSkill): OfferedSkill['files'][number] | undefined {
  return files.find(({ path }) => path === 'SKILL.md')
}

async function readOfferedSkills(
  skills: readonly OfferedSkill[],
  readDocuments: ReadDocuments,
): Promise<ReadonlyMap<string, Reading>> {
  const readings = new Map<string, Reading>()
  const missing = skills.filter((skill) => {
    const reading = kept.get(toReadingKey(skill))
    if (reading) readings.set(toReadingKey(skill), reading)
    return !reading
  })
  const byDigest = Map.groupBy(missing, (skill) => findDocument(skill)?.digest)
  for await (const [digest, bytes] of readDocuments(missing)) {
    for (const skill of byDigest.get(digest) ?? []) {
      const reading = await readSkillEntry(skill, bytes)
      readings.set(toReadingKey(skill), reading)
      cacheReading(toReadingKey(skill), reading)
    }
  }
  return readings
}

/** The key of a parsed document, whose validity also depends on the name of the skill. */
function toReadingKey(skill: OfferedSkill): string {
  return `${findDocument(skill)?.digest} ${skill.name}`
}

/** Parses a SKILL.md with the parser of the hosts, which is stricter than the parser of the registry. */
async function readSkillEntry({ fullName }: OfferedSkill, bytes: Uint8Array): Promise<Reading> {
  try {
    const { frontmatter } = await skillEntry(fullName, { 'SKILL.md': bytes })
    const characters = JSON.stringify(frontmatter).length
    return characters > frontmatterCharactersMax ? nothing : { frontmatter, characters }
  } catch (error) {
    if (error instanceof SkillCatalogError) return nothing
    throw error
  }
}

const nothing: Reading = { frontmatter: undefined, characters: 0 }

function cacheReading(key: string, reading: Reading): void {
  keptCharacters += reading.characters - (kept.get(key)?.characters ?? 0)
  kept.set(key, reading)
  for (const [oldest, { characters }] of kept) {
    if (kept.size <= keptMax && keptCharacters <= keptCharactersMax) return
    kept.delete(oldest)
    keptCharacters -= characters
  }
}
