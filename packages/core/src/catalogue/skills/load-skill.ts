import { composeSkill, type LoadedSkill, type SkillParts } from '@skillstead/skill-format/loading'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { Caller } from '../../kernel/caller.ts'
import type { Input, Operation } from '../../kernel/operation-input.ts'
import { getBlob } from '../../storage/read-blobs.ts'
import { parseJson, type SkillRow, type VersionRow } from '../../storage/tables.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { findScan } from '../versions/inspection.ts'
import { countDownload, getSkillVersion } from './read-skill.ts'
import { showName } from '../versions/shown-names.ts'
import { readStoredRequires, toStoredRequires } from '../versions/stored-requires.ts'
import { toSkillItem } from '../versions/skill-document.ts'
import { truncateSkill } from './truncate-skill.ts'
import { readShownEvaluations } from '../versions/version-evaluations.ts'
import { readFileRows } from '../versions/version-files.ts'

/**
 * GET /skills/<name>/load: the skill at the level that an agent requests. Levels below `full` are read from the
 * version's row; only `full` reads the document and counts as a download.
 */
export const loadSkill: Operation<'loadSkill', CatalogueContext> = async (context, input, caller, options = {}) => {
  const { skill, version } = await getSkillVersion(context, input, caller)
  const isFull = input.level === 'full'
  const fullContent = isFull ? await readSkillMdText(context, version) : undefined
  const parts = await readSkillParts(context, { skill, version, isNamed: input.version !== undefined }, caller)
  const loaded = await truncateToBudget(composeSkill({ ...parts, fullContent }, input.level), input)
  if (isFull) countDownload(context, { skill, version }, caller, options)
  return loaded
}

async function truncateToBudget(loaded: LoadedSkill, { maxTokens, priority }: Input<'loadSkill'>) {
  return maxTokens === undefined ? loaded : truncateSkill({ loaded, maxTokens, priority })
}

/** Metadata from the owner applies only to the version in `described_by`; other versions use that of their SKILL.md. */
async function readSkillParts(
  context: StorageContext,
  { skill, version, isNamed }: { skill: SkillRow; version: VersionRow; isNamed: boolean },
  caller: Caller,
): Promise<SkillParts> {
  const own = parseJson(version.metadata)
  const usesOwn = isNamed && skill.described_by !== version.version
  const { fullName, description, author, downloads, verified, deprecated } = toSkillItem(skill)
  const { frontmatter, contract, capabilities, summary } = own
  const requires = readStoredRequires(version)
  const metadata = {
    name: await showName(context, skill, caller),
    fullName,
    version: version.version,
    description: usesOwn ? own.description : description,
    author,
    downloads,
    securityScore: await readVersionScore(context, skill, version),
    verified,
    deprecated,
    keywords: usesOwn ? own.keywords : parseJson(skill.keywords),
    ...(await readShownEvaluations(context.database.read, [version]))(version),
    ...(toStoredRequires(requires) !== '' && { requires }),
  }
  return { metadata, frontmatter, contract, capabilities, summary }
}

async function readVersionScore(context: StorageContext, skill: SkillRow, version: VersionRow): Promise<number | null> {
  if (version.version === skill.latest_version) return skill.security_score
  return (await findScan(context.database.read, version.id))?.score ?? null
}

async function readSkillMdText(context: StorageContext, version: VersionRow): Promise<string> {
  const [document] = await readFileRows(context.database.read, version.id)
  const bytes = await getBlob(context.database, document!.digest)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}
