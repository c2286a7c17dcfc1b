import { posix } from 'node:path'
import type { PathReason, RegistryApi, Visibility, Warning } from '@skillstead/protocol'
import { isUnreadable, type Plugin, type SkillRecord } from '@skillstead/skill-format/archives'
import { waitForTurn, type Say } from '../install/offer.ts'
import { DangerousError } from '../scan/dangerous.ts'
import { isOwnRefusal, putPluginPack, type PluginSkill } from './plugin-pack.ts'

/** A published skill, as far as a plugin needs it. */
interface Published {
  readonly fullName: string
  readonly version: string
  readonly created: boolean
  readonly quarantined: boolean
  readonly visibility: Visibility
  readonly omitted: readonly PathReason[]
  readonly changed: readonly PathReason[]
}

/** The visibilities, the least visible first: a new pack is shown to no more users than each of its skills. */
const hiddenFirst: readonly Visibility[] = ['private', 'internal', 'public']

interface PluginOptions<One extends Published> {
  /** Publishes one skill, or determines what would happen. */
  publish(skill: SkillRecord): Promise<One>
  readonly dryRun: boolean
  readonly visibility: Visibility | undefined
  readonly say: Say
}

/** Publishes skills one by one. A refused skill does not stop the other skills; any other failure stops them. */
export async function* publishEach<One extends Published>(
  items: Plugin['items'],
  { publish, say }: Pick<PluginOptions<One>, 'publish' | 'say'>,
): AsyncGenerator<PluginSkill & { readonly published?: One }> {
  for await (const item of items) {
    if (isUnreadable(item)) {
      yield { path: item.id, status: 'refused', reason: item.reason }
      continue
    }
    const outcome = await waitForTurn(() => publish(item), say).catch(toRefusal)
    if (typeof outcome === 'string') {
      yield { path: item.id, status: 'refused', reason: outcome }
      continue
    }
    const { fullName, version, created, quarantined } = outcome
    const status = quarantined ? 'quarantined' : created ? 'published' : 'unchanged'
    yield { path: item.id, status, fullName, version, published: outcome }
  }
}

/** The warnings of a dry run that the version would wait for a decision. */
export function findWaits(warnings: readonly Warning[]): readonly Warning[] {
  return warnings.filter(({ code }) => code === 'approval' || code === 'quarantined')
}

/** Publishes the skills of a plugin, and then its pack. After a failure, the same command continues the publication. */
export async function publishPlugin<One extends Published>(
  api: RegistryApi,
  plugin: Plugin,
  { publish, dryRun, visibility, say }: PluginOptions<One>,
) {
  const skills: (PluginSkill & { readonly published?: One })[] = []
  const omitted: PathReason[] = [...plugin.omitted]
  const changed: PathReason[] = []
  for await (const skill of publishEach(plugin.items, { publish, say })) {
    skills.push(skill)
    const { path: id, published } = skill
    const toPluginPath = ({ path, reason }: PathReason) => ({
      path: posix.join('skills', posix.basename(posix.dirname(id)), path),
      reason,
    })
    omitted.push(...(published?.omitted ?? []).map(toPluginPath))
    changed.push(...(published?.changed ?? []).map(toPluginPath))
  }
  const shown = new Set(skills.map(({ published }) => published?.visibility))
  const newVisibility = hiddenFirst.find((one) => shown.has(one))
  const pack = await waitForTurn(() => putPluginPack(api, plugin, skills, { visibility, newVisibility, dryRun }), say)
  return { plugin: plugin.name, dryRun, skills, pack, omitted, changed }
}

/** Why a skill is refused. Throws failures that would concern the other skills too. */
function toRefusal(error: unknown): string {
  if (error instanceof DangerousError || isOwnRefusal(error)) return error.message
  throw error
}
