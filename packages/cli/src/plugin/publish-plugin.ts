import { posix } from 'node:path'
import { type PathReason, type RegistryApi, type Visibility } from '@skillstead/protocol'
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

/** A new pack is shown to no more users than each of its skills. */
const hiddenFirst: readonly Visibility[] = ['private', 'internal', 'public']

interface PluginOptions<One extends Published> {
  /** Publishes one skill, or determines what would happen. */
  publish(skill: SkillRecord): Promise<One>
  readonly dryRun: boolean
  readonly visibility: Visibility | undefined
  readonly say: Say
}

/**
 * Publishes the skills of a plugin one by one, and then its pack. A skill that is refused does not stop the others; any
 * other failure does, and publishing again then continues.
 */
export async function publishPlugin<One extends Published>(
  api: RegistryApi,
  plugin: Plugin,
  { publish, dryRun, visibility, say }: PluginOptions<One>,
) {
  const skills: (PluginSkill & { readonly published?: One })[] = []
  const omitted: PathReason[] = [...plugin.omitted]
  const changed: PathReason[] = []
  for await (const item of plugin.items) {
    if (isUnreadable(item)) {
      skills.push({ path: item.id, status: 'refused', reason: item.reason })
      continue
    }
    const toPluginPath = ({ path, reason }: PathReason) => ({
      path: posix.join('skills', posix.basename(posix.dirname(item.id)), path),
      reason,
    })
    const outcome = await waitForTurn(() => publish(item), say).catch(toRefusal)
    if (typeof outcome === 'string') {
      skills.push({ path: item.id, status: 'refused', reason: outcome })
      continue
    }
    const { fullName, version, created, quarantined } = outcome
    const status = quarantined ? 'quarantined' : created ? 'published' : 'unchanged'
    skills.push({ path: item.id, status, fullName, version, published: outcome })
    omitted.push(...outcome.omitted.map(toPluginPath))
    changed.push(...outcome.changed.map(toPluginPath))
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
