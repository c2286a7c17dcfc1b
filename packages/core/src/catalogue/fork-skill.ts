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

/** POST /skills/<name>/fork: the latest version's content and number under the caller's name. Throws `name_taken`. */
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
    // A changelog never changes, and the fork may become public where its source does not.
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

/** A source that is hidden, or was closed since it was read, must not live on under another name. */
function refuseClosed(read: SkillRow, now: SkillRow): void {
  if (now.state === 'hidden')
    throw new RegistryError('conflict', `${now.full_name} is hidden, and is forked again once it is shown.`)
  if (now.visibility !== read.visibility)
    throw new RegistryError('conflict', `${now.full_name} has changed since you asked. Look at it again.`)
}

/** What would have to wait is published by its new owner, who then hears that it does. */
function refuseQuarantined(error: unknown): never {
  if (!(error instanceof Quarantined)) throw error
  const { full_name } = error.published.skill
  const advice = 'Download it and publish it under your name, and an administrator will look at it.'
  throw new RegistryError('conflict', `The scan of ${full_name} has it wait for an administrator. ${advice}`)
}

async function refuseTaken(trx: WriteTransaction, fullName: string): Promise<void> {
  const taken = await trx.selectFrom('skills').select('id').where('full_name', '=', fullName).executeTakeFirst()
  if (taken)
    throw new RegistryError('name_taken', `You have a skill ${fullName} already; give the fork another newName.`)
}
