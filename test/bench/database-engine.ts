import { openDatabase } from '../../packages/core/src/storage/database.ts'
import { putSkillText } from '../../packages/core/src/storage/text-search.ts'
import type { WriteTransaction } from '../../packages/core/src/storage/writer.ts'
import { toIndexText } from '../../packages/core/src/search/index-text.ts'
import { searchText } from '../../packages/core/src/search/database/text-catalogue.ts'
import type { Location } from '../support/places.ts'
import type { Engine } from './search-engines.ts'
import type { BenchDocument } from './search-queries.ts'

/** Enough skills for one transaction. */
const batchRows = 500
const ownerId = 'owner'

/** The index of an empty database, which searches use while a node warms up and in catalogues above the memory limit. */
export async function openDatabaseEngine(location: Location): Promise<Engine> {
  const database = await openDatabase(location)
  const waiting: BenchDocument[] = []
  await database.writer.write((trx) => insertOwner(trx))
  return {
    put: (document) => void waiting.push(document),
    async finish() {
      while (waiting.length > 0) {
        const batch = waiting.splice(0, batchRows)
        await database.writer.write(async (trx) => {
          await insertSkills(trx, batch)
          for (const document of batch) {
            const makeText = () => toIndexText(document, document.content)
            await putSkillText(trx, database.dialect, toNum(document), makeText, { isNew: true })
          }
        })
      }
    },
    async find(q, limit) {
      const query = { q, offset: 0, limit, viewer: null, filters: { includeStubs: false } }
      return (await searchText(database, query)).ids.map((num) => num - 1)
    },
    close: () => database.close(),
  }
}

/** Row numbers start at 1. */
const toNum = ({ id }: BenchDocument) => id + 1
const toSkillId = ({ id }: BenchDocument) => `skill-${id}`

function insertOwner(trx: WriteTransaction) {
  const names = { id: ownerId, username: ownerId, display_name: ownerId }
  const row = { ...names, plan: 'free', role: 'user', disabled: 0, claimed: 0, created_at: 0 } as const
  return trx.insertInto('users').values(row).execute()
}

/** What does not matter here. */
const times = { published_at: 0, created_at: 0, updated_at: 0 }
const counters = { downloads: 0, stars: 0, effect_low: -2, forks: 0, agent_installs: 0, dependents: 0 }
const credits = { credited_stars: 0, credited_reviews: 0, credited_points: 0 }
const texts = { recalls: '[]', deprecation_message: '', repository: '', moderation_reason: '', metadata_scan: '' }
const flags = { stub: 0, deprecated: 0, verified: 0, portable: 1, holds_name: 0, security_score: null, revision: 0 }
const forked = { forked_from: null, forked_from_version: null }
const origin = { origin_kind: 'local', origin_upstream: null, origin_synced_at: null } as const
const state = {
  visibility: 'public',
  state: 'live',
  source_state: 'live',
  moderation: 'shown',
  moderated_at: null,
} as const
const unremarkable = { ...times, ...counters, ...credits, ...texts, ...flags, ...forked, ...origin, ...state }
const ofVersion = { digest: '', size: 0, changelog: '', publisher_id: '', publisher: '', metadata: '' }
const version = '1.0.0'

async function insertSkills(trx: WriteTransaction, documents: readonly BenchDocument[]): Promise<void> {
  for (const document of documents) {
    const { name, owner, displayName, description, category, license, summary } = document
    const [id, versionId] = [toSkillId(document), `version-${document.id}`]
    await trx
      .insertInto('skills')
      .values({
        ...unremarkable,
        num: toNum(document),
        id,
        owner_id: ownerId,
        owner,
        name,
        description,
        category,
        license,
        summary,
        // The names of the corpus repeat.
        full_name: `${document.fullName}-${document.id}`,
        display_name: displayName,
        keywords: JSON.stringify(document.keywords),
        headings: JSON.stringify(document.headings),
        latest_version: version,
        described_by: version,
      })
      .execute()
    const numbers = { version, sort_key: version, portable: 1, yanked: 0, published_at: 0 }
    await trx
      .insertInto('versions')
      .values({ ...ofVersion, ...numbers, id: versionId, skill_id: id })
      .execute()
    await trx
      .insertInto('version_terms')
      .values({ version_id: versionId, terms: Buffer.from(document.content!) })
      .execute()
  }
}
