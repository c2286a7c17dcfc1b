import { RegistryError } from '@skillstead/protocol'
import { rewriteFrontmatterName } from '@skillstead/skill-format'
import type { StorageContext } from '../../storage/storage-context.ts'
import { type Caller, requireAccount } from '../../kernel/caller.ts'
import type { Input } from '../../kernel/operation-input.ts'
import { appendChange } from '../../log/append-change.ts'
import { hasRow, increment } from '../../storage/table-rows.ts'
import { parseJson, type SkillRow, type VersionRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { getSkillNow } from '../skills/find-skill.ts'
import { inspectPackage } from '../inspecting/inspect-packages.ts'
import { toPackageTexts } from '../inspecting/metadata-scan.ts'
import { readPackageFields } from '../versions/package-fields.ts'
import { publishVersion } from './publish-version.ts'
import { getSkillVersion } from '../skills/read-skill.ts'
import { showDetails } from '../skills/show-details.ts'
import { packContent, type SkillPackage } from '../versions/skill-package.ts'
import { readPackageFiles } from '../versions/version-files.ts'

/** POST /skills/<name>/fork: copies the latest version to the caller's namespace. Throws `name_taken`. */
export async function forkSkill(context: CatalogueContext, input: Input<'forkSkill'>, caller: Caller) {
  const user = requireAccount(caller)
  const { skill: source, version } = await getSkillVersion(context, { name: input.name }, caller)
  const newName = input.newName ?? source.name
  const content = await readStoredPackage(context, version)
  const skillMd = rewriteFrontmatterName(content.skillMd, newName)
  const { description, license, keywords } = parseJson(version.metadata)
  const given = { name: newName, version: version.version, description, license, keywords, category: source.category }
  const fields = readPackageFields(skillMd, given, { requestWins: true })
  const owner = { id: user.userId, username: user.username }
  const packed = await packContent({ ...content, skillMd })
  // The changelog does not name a private source: a changelog never changes, and the fork may become public.
  const changelog = source.visibility === 'public' ? `Forked from ${source.full_name}@${version.version}.` : ''
  const publication = {
    owner,
    publisher: owner,
    fields,
    content: packed,
    inspection: await inspectPackage(context, { content: packed, texts: toPackageTexts(fields, changelog) }),
    settings: { visibility: toForkVisibility(source), category: source.category, repository: source.repository },
    changelog,
    forkedFrom: { fullName: source.full_name, version: version.version },
  }
  const fork = await context.database.writer.write(async (trx) => {
    refuseClosedSource(source, await getSkillNow(context, trx, source, caller))
    const fullName = `${user.username}/${newName}`
    if (await hasRow(trx, 'skills', { full_name: fullName }))
      throw new RegistryError('name_taken', `You already have a skill ${fullName}. Choose another newName.`)
    const { skill, quarantinedFor } = await publishVersion(context, trx, publication, caller)
    // A fork is refused instead of quarantined. The caller may publish the content, which is then quarantined.
    if (quarantinedFor)
      throw new RegistryError(
        'conflict',
        `A fork of ${skill.full_name} would be quarantined because of its scan. Download it and publish it under your name; an administrator then reviews it.`,
      )
    await countFork(trx, source.id, context.clock.now())
    return skill
  })
  return showDetails(context, fork, caller)
}

/** Counts a new fork at its source. `at`: milliseconds since 1970. */
export async function countFork(trx: WriteTransaction, sourceId: string, at: number): Promise<void> {
  await increment(trx, 'skills', sourceId, { forks: 1 })
  await appendChange(trx, { kind: 'counters', subject: sourceId, at, entries: [] })
}

async function readStoredPackage(context: StorageContext, version: VersionRow): Promise<SkillPackage> {
  const [skillMd, ...rest] = await readPackageFiles(context.database, version.id)
  return { skillMd: Buffer.from(skillMd!.bytes).toString(), files: rest }
}

/** Refuses a source that was hidden or made private after it was read: a fork must not preserve such content. */
function refuseClosedSource(read: SkillRow, now: SkillRow): void {
  if (now.state === 'hidden')
    throw new RegistryError('conflict', `${now.full_name} is hidden and cannot be forked until it is visible again.`)
  if (now.visibility !== read.visibility)
    throw new RegistryError(
      'conflict',
      `The visibility of ${now.full_name} has just changed. Read the skill again, then repeat the fork.`,
    )
}

/** The fork of a skill that only an organisation sees is private: a fork belongs to a user. */
function toForkVisibility({ visibility }: Pick<SkillRow, 'visibility'>) {
  return visibility === 'organisation' ? 'private' : visibility
}
