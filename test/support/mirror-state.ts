import type { Registry } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { checkRegistry } from '@skillstead/maintenance'
import type { RegistryApi } from '@skillstead/protocol'
import { skillMd } from './answers.ts'

/** Every public version that is served, with what is said of it, in order: what a mirror and its upstream have in common. */
export async function readState(registry: Registry): Promise<string[]> {
  const rows = await partsOf(registry)
    .database.read.selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .leftJoin('holders', 'holders.skill_id', 'skills.id')
    .select(['skills.id', 'skills.full_name', 'skills.latest_version', 'holders.name as holds'])
    .select(['versions.version', 'versions.digest', 'versions.yanked', 'versions.published_at', 'versions.publisher'])
    .select(['skills.deprecated', 'skills.description'])
    .where('skills.visibility', '=', 'public')
    .where('skills.state', '=', 'live')
    .orderBy('skills.full_name')
    .orderBy('versions.version')
    .execute()
  return rows.map((row) => JSON.stringify(row))
}

/** What is wrong with a registry, in sentences: content without its digest, a log that does not fit its tree. */
export async function findDamage(registry: Registry): Promise<string[]> {
  const findings = await checkRegistry(registry)
  return findings.filter(({ ok, name }) => !ok && name !== 'disk').map(({ name, detail }) => `${name}: ${detail}`)
}

/** Versions 1.0.0 and on, with a file each that differs and one that does not. */
export async function publishVersions(api: RegistryApi, name: string, versions: number, first = 0): Promise<void> {
  for (let i = first; i < first + versions; i += 1) {
    const files = [
      { path: 'notes.md', content: `Notes on ${name}, ${i}.\n${'More of them. '.repeat(40 * (i % 5))}` },
      { path: 'licence.txt', content: 'Do as you like.' },
    ]
    await api.publishSkill({ skillMd: skillMd(name), version: `1.0.${i}`, files })
  }
}
