import { type Provenance, toSignedFields, toTimestamp } from '@skillstead/protocol'
import canonicalize from 'canonicalize'
import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { readVerifiedMethods } from '../accounts/verified-methods.ts'
import { getContent } from './read-skill.ts'
import { toOrigin } from './skill-document.ts'
import { signText } from '../log/signing-keys.ts'
import { readForkChain } from './fork-chain.ts'
import { proveVersion } from './prove-version.ts'

/**
 * GET /skills/<name>/provenance: who published a version and when, where it comes from, and the proof that the log holds
 * it, signed, so that all of it can be checked with the node's public key alone.
 */
export async function showProvenance(
  context: CatalogueContext,
  input: { name: string; version?: string },
  caller: Caller,
): Promise<Provenance> {
  const { skill, version } = await getContent(context, input, caller)
  const methods = await readVerifiedMethods(context.database.read, [skill.owner_id])
  const log = await proveVersion(context, skill, version)
  const record = {
    skill: { id: (log && readSkillId(log)) ?? skill.id, fullName: skill.full_name },
    version: version.version,
    digest: version.digest,
    publisher: { id: version.publisher_id, username: version.publisher },
    publishedAt: toTimestamp(version.published_at),
    firstPublishedAt: toTimestamp(await readFirstPublished(context, skill.id)),
    authorVerified: methods.get(skill.owner_id) ?? [],
    forkChain: await readForkChain(context, skill, caller),
    origin: toOrigin(skill),
    log,
  }
  return { ...record, signature: await signRecord(context, record) }
}

/**
 * What the log calls the skill: one that was built anew upstream may have another id there than it came here by. Undefined
 * for an entry of something else, which whoever verifies the record finds out.
 */
function readSkillId({ entry }: NonNullable<Provenance['log']>): string | undefined {
  const { data } = JSON.parse(entry) as { data?: { skill?: { id?: string } } }
  return data?.skill?.id
}

async function readFirstPublished(context: CatalogueContext, skillId: string): Promise<number> {
  const { at } = await context.database.read
    .selectFrom('versions')
    .select((eb) => eb.fn.min<number>('published_at').as('at'))
    .where('skill_id', '=', skillId)
    .executeTakeFirstOrThrow()
  return at
}

/** The text and these lines, an empty line between, are a signed note. Checkpoints begin otherwise: no text is both. */
async function signRecord(context: CatalogueContext, record: Omit<Provenance, 'signature'>): Promise<string> {
  const lines = await signText(context, `${canonicalize(toSignedFields(record))}\n`)
  return lines.map((line) => `${line}\n`).join('')
}
