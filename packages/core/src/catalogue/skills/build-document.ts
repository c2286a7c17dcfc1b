import type { SkillDetails } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { parseJson, type SkillRow, type Tables } from '../../storage/tables.ts'
import { joinStoredScan } from '../inspecting/metadata-scan.ts'
import {
  hasCurrentForm,
  type LatestVersion,
  type ListedVersion,
  selectListedVersions,
  toSkillDocument,
} from '../versions/skill-document.ts'
import { isOffered } from '../versions/recalls.ts'
import { showAccessAmong } from '../versions/version-changes.ts'
import { toEffectLow } from '../versions/version-evaluations.ts'
import { readVersionContent, type VersionContents } from '../versions/version-files.ts'

/** The latest of all versions of a skill; undefined if none is offered. */
export async function readLatestVersion(
  db: Kysely<Tables>,
  versions: readonly ListedVersion[],
  contents: VersionContents = new Map(),
): Promise<LatestVersion | undefined> {
  const row = versions.find(isOffered)
  if (!row) return undefined
  const content = await readVersionContent(db, row.id, contents)
  const uses = content.uses ?? (await showAccessAmong(db, versions, [row.id])).get(row.id)!
  return { row, ...content, uses }
}

/** Computes the document of a skill, and the columns of its row that depend on the latest version. */
export async function buildDocument(db: Kysely<Tables>, skill: SkillRow) {
  const versions = await selectListedVersions(db, { skillId: skill.id })
  const read = await readLatestVersion(db, versions)
  const latest = read && { ...read, scan: read.scan && joinStoredScan(read.scan, skill.metadata_scan) }
  const columns = {
    latest_version: latest?.row.version ?? '',
    security_score: latest?.scan?.score ?? null,
    effect_low: toEffectLow(latest?.row),
  }
  return { document: toSkillDocument({ ...skill, ...columns }, latest, versions), columns }
}

/**
 * A stored document in the current form. Builds the document again if a program with another form stored it. The time
 * of the last sync stays as in the stored document, because a later sync changes only the row.
 */
export async function toCurrentDocument(db: Kysely<Tables>, skillId: string, document: string): Promise<string> {
  if (hasCurrentForm(document)) return document
  const skill = await db.selectFrom('skills').selectAll().where('id', '=', skillId).executeTakeFirstOrThrow()
  const { origin } = parseJson<Partial<SkillDetails>>(document)
  const origin_synced_at = origin?.syncedAt ? Date.parse(origin.syncedAt) : skill.origin_synced_at
  return (await buildDocument(db, { ...skill, origin_synced_at })).document
}
