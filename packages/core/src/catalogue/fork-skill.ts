import { RegistryError, type SkillDetails } from '@skillstead/protocol'
import { rewriteFrontmatterName } from '@skillstead/skill-format'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { appendChange } from '../log/append-change.ts'
import type { SkillRow, VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { readPackageFiles } from './version-files.ts'
import { getSkillNow } from './find-skill.ts'
import { inspectPackage } from './inspect-packages.ts'
import { readPackageFields } from './package-fields.ts'
import { Quarantined, publishVersion } from './publish-version.ts'
import { getContent } from './read-skill.ts'
import { showDetails } from './show-details.ts'
import { packContent, type SkillPackage } from './skill-package.ts'

/**
 * POST /skills/<name>/fork: copies the latest version's content and number to the caller's namespace. Throws
 * `name_taken`.
 */
export async function forkSkill(
  context: CatalogueContext,
  input: { name: string; newName?: string },
  caller: Caller,
): Promise<SkillDetails> {
  const user = requireAccount(caller)
  const { skill: source, version } = await getContent(context, { name: input.name }, caller)
  const newName = input.newName ?? source.name
  const content = await readStored(context, version)
  const skillMd = rewriteFrontmatterName(content.skillMd, newName)
  const { description, license, keywords } = JSON.parse(version.metadata) as {
    description: string
    license: string
    keywords: string[]
  }
  const given = { name: newName, version: version.version, description, license, keywords, category: source.category }
  const fields = readPackageFields(skillMd, given, { requestWins: true })
  const owner = { id: user.userId, username: user.username }
  const packed = await packContent({ ...content, skillMd })
  const publication = {
    owner,
    publisher: owner,
    fields,
    content: packed,
    inspection: await inspectPackage(packed, context.clock.now()),
    settings: { visibility: source.visibility, category: source.category, repository: source.repository },
    // A changelog never changes, and the fork may become public while its source stays private.
    changelog: source.visibility === 'public' ? `Forked from ${source.full_name}@${version.version}.` : '',
    forkedFrom: { fullName: source.full_name, version: version.version },
  }
  const fork = await context.database.writer.write(async (trx) => {
    refuseClosed(source, await getSkillNow(context, trx, source, caller))
    await refuseTaken(trx, `${user.username}/${newName}`)
    const { skill } = await publishVersion(context, trx, publication, caller).catch(refuseQuarantined)
    await trx
      .updateTable('skills')
      .set((eb) => ({ forks: eb('forks', '+', 1) }))
      .where('id', '=', source.id)
      .execute()
    await appendChange(trx, { kind: 'counters', subject: source.id, at: context.clock.now(), entries: [] })
    return skill
  })
  return showDetails(context, fork, caller)
}

async function readStored(context: CatalogueContext, version: VersionRow): Promise<SkillPackage> {
  const [skillMd, ...rest] = await readPackageFiles(context.database.read, version.id)
  return { skillMd: Buffer.from(skillMd!.bytes).toString(), files: rest }
}

/** A source that was hidden or made private since it was read must not survive under another name. */
function refuseClosed(read: SkillRow, now: SkillRow): void {
  if (now.state === 'hidden')
    throw new RegistryError('conflict', `${now.full_name} is hidden and cannot be forked until it is visible again.`)
  if (now.visibility !== read.visibility)
    throw new RegistryError('conflict', `${now.full_name} changed its visibility. Read it again before you fork it.`)
}

/** A fork is never quarantined: the caller may publish the content, which is then quarantined with a notice. */
function refuseQuarantined(error: unknown): never {
  if (!(error instanceof Quarantined)) throw error
  const { full_name } = error.published.skill
  const advice = 'Download it and publish it under your name; an administrator then reviews it.'
  throw new RegistryError('conflict', `A fork of ${full_name} would be quarantined because of its scan. ${advice}`)
}

async function refuseTaken(trx: WriteTransaction, fullName: string): Promise<void> {
  const taken = await trx.selectFrom('skills').select('id').where('full_name', '=', fullName).executeTakeFirst()
  if (taken)
    throw new RegistryError('name_taken', `You already have a skill ${fullName}. Choose another newName for the fork.`)
}
