import type { OfferedSkill } from '@skillstead/core/internal'
import { readBytes } from '@skillstead/skill-format/archives'
import { type RegistryApi, type Skill, orUndefined } from '@skillstead/protocol'
import { absentCodes } from './failures.ts'
import { findDocument, type ReadDocuments } from './skill-entries.ts'

/**
 * The source of the lists of an MCP server. It omits skills that the scanner rates dangerous, because hosts show the
 * lists to a model.
 */
export interface Catalogue {
  /** A page of the skills, most downloaded first. */
  listSkills(page: number, limit: number): Promise<SkillPage>
  readonly readDocuments: ReadDocuments
}

export interface SkillPage {
  readonly skills: readonly Pick<OfferedSkill, 'fullName' | 'description'>[]
  readonly totalPages: number
  /** The skills from index `from` to `to` with their latest version's files. Leaves out skills deleted meanwhile. */
  readFiles(from: number, to: number): Promise<readonly OfferedSkill[]>
}

/** The lowest security score of a listed skill; lower scores have the verdict `dangerous`. */
const scoreMin = 40

/** The catalogue of an API, which may be remote. Makes one call per skill. */
export function catalogueOf(api: RegistryApi): Catalogue {
  return {
    async listSkills(page, limit) {
      const { skills, totalPages } = await api.searchSkills({ page, limit })
      const offered = skills.filter(mayShowUnasked)
      return {
        skills: offered,
        totalPages,
        async readFiles(from, to) {
          const found = await Promise.all(
            offered.slice(from, to).map(({ fullName }) => findOfferedSkill(api, fullName)),
          )
          return found.filter((skill) => skill !== undefined)
        },
      }
    },
    async *readDocuments(skills) {
      const read = await Promise.all(skills.map((skill) => readSkillDocument(api, skill)))
      yield* read.filter((document) => document !== undefined)
    },
  }
}

/** Whether a host may show the texts of a skill to a model that did not ask for this skill. */
export function mayShowUnasked({ securityScore }: Pick<Skill, 'securityScore'>): boolean {
  return securityScore === null || securityScore >= scoreMin
}

const goneCodes = [...absentCodes, 'taken_down', 'recalled'] as const

async function findOfferedSkill(api: RegistryApi, fullName: string): Promise<OfferedSkill | undefined> {
  const skill = await orUndefined(api.getSkill({ name: fullName }), ...goneCodes)
  return skill && { ...skill, version: skill.latestVersion }
}

async function readSkillDocument(
  api: RegistryApi,
  skill: OfferedSkill,
): Promise<[digest: string, bytes: Uint8Array] | undefined> {
  const digest = findDocument(skill)?.digest
  if (digest === undefined) return undefined
  const { fullName: name, version } = skill
  const content = await orUndefined(api.getFile({ name, path: 'SKILL.md', version }), ...goneCodes)
  return content && [digest, await readBytes(content)]
}
