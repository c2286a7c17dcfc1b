import { isRegistryError, type RegistryApi } from '@skillstead/protocol'
import { command } from '../../command/command.ts'
import { applyPlans, fetchPlans, refuseDangerousPlans, showInstalled } from '../../install/apply-plans.ts'
import { askForItems } from '../../install/find-items.ts'
import { globalOption } from '../../install/install-place.ts'
import type { Lock } from '../../install/lock.ts'
import { planItem, refuseSharedFolder, type Item, type ItemPlan } from '../../install/plan-folders.ts'
import { addRequired, noDepsOption, type Adding } from '../../install/requirements.ts'
import { forceOption, listLocked, openSession, withSource, type Session } from '../../install/session.ts'
import { isUpdate, isWithdrawn, listNotices, toNoticeText, type Notice } from '../../install/update-items.ts'
import { placeOptions } from '../../registry/place.ts'
import { dangerousOption } from '../../scan/dangerous.ts'

export const commands = {
  update: command({
    description: 'Update installed skills to their latest versions. Default: all installed skills.',
    words: ['[NAME...]'],
    options: { ...globalOption, ...noDepsOption, ...forceOption, ...dangerousOption, ...placeOptions },
    async run(given, output) {
      const session = await openSession(given, output)
      const notices = await listNotices(session, listLocked(session))
      const plans: ItemPlan[] = []
      const conflicts: Conflict[] = []
      for (const [source, some] of Map.groupBy(notices.filter(isUpdate), (notice) => notice.source)) {
        const planned = await planUpdates(session, source, some)
        plans.push(...planned.plans)
        conflicts.push(...planned.conflicts)
      }
      const result = await applyPlans(session, plans)
      const left = notices.filter(({ reason, fullName }) => reason === 'recalled' && !isPlanned(plans, fullName))
      const others = notices.filter((notice) => !isUpdate(notice) || left.includes(notice)).map(toNoticeText)
      return { ...result, conflicts, recalled: left.map(toName), warnings: [...result.warnings, ...others] }
    },
    show(result) {
      const lines = showInstalled(result)
      return lines.length > 0 || result.conflicts.length > 0 ? lines : ['All skills are at their latest version.']
    },
    hasFailed: ({ skipped, conflicts, recalled }) => skipped.length + conflicts.length + recalled.length > 0,
  }),
}

/** A skill that was not updated because of its own requirements, or those of another skill. */
interface Conflict {
  readonly fullName: string
  readonly version: string
  readonly latestVersion: string
  /** The explanation of the registry. */
  readonly reason: string
}

function isPlanned(plans: readonly ItemPlan[], name: string): boolean {
  return plans.some(({ item: { fullName, formerName } }) => fullName === name || formerName === name)
}

function toName({ fullName, version }: Notice) {
  return { fullName, version }
}

function planUpdates(session: Session, source: string, notices: readonly Notice[]) {
  return withSource(session.given, source, async (api) => {
    const words = notices.map(({ fullName, latestVersion }) => ({
      name: fullName,
      version: latestVersion ?? undefined,
    }))
    const withdrawn = new Set(notices.filter(isWithdrawn).map(({ fullName }) => fullName))
    const plans: ItemPlan[] = []
    const latest = await askForItems(session, api, words, source)
    const { items, conflicts } = await addWithin(session, api, latest, { source, isUpdate: true, withdrawn })
    for (const item of items) plans.push(await planItem(session, item))
    refuseSharedFolder(plans.map(({ item }) => item))
    refuseDangerousPlans(session, plans)
    await fetchPlans(session, api, plans)
    return { plans, conflicts }
  })
}

/**
 * The items of updates with the skills that they require. If updates conflict, as many as possible are chosen, so that
 * one conflict does not prevent independent updates. Throws the conflict if no update is possible.
 */
async function addWithin(session: Session, api: RegistryApi, latest: readonly Item[], adding: Adding) {
  try {
    return { items: await addRequired(session, api, latest, adding), conflicts: [] }
  } catch (error) {
    if (!isRegistryError(error, 'conflict') || latest.length === 1) throw error
    const quiet = { ...session, output: { ...session.output, say: () => undefined } }
    const conflicts: Conflict[] = []
    /**
     * Adds to `chosen` the groups that are possible together: tries all at once, then each half, down to single skills.
     */
    const choose = async (groups: readonly Item[][], chosen: readonly Item[]): Promise<readonly Item[]> => {
      const all = [...chosen, ...groups.flat()]
      try {
        await addRequired(quiet, api, all, adding)
        return all
      } catch (problem) {
        if (!isRegistryError(problem, 'conflict')) throw problem
        const parts = groups.length > 1 ? groups : groups.flat().map((item) => [item])
        if (parts.length > 1) {
          const half = Math.ceil(parts.length / 2)
          return choose(parts.slice(half), await choose(parts.slice(0, half), chosen))
        }
        const [{ fullName, version: latestVersion } = latest[0]!] = parts.flat()
        const { version } = session.lock.skills[fullName]!
        conflicts.push({ fullName, version, latestVersion, reason: problem.message })
        return chosen
      }
    }
    const chosen = await choose(toGroups(session.lock, latest), [])
    if (chosen.length === 0) throw error
    for (const { fullName, version, latestVersion, reason } of conflicts)
      session.output.say(`${fullName} stays at ${version}, not ${latestVersion}: ${reason}`)
    return { items: await addRequired(session, api, chosen, adding), conflicts }
  }
}

/** Groups of skills that require one another or the same skills, in the installed or in the new version. */
function toGroups({ skills }: Lock, items: readonly Item[]): Item[][] {
  let groups: { names: readonly string[]; items: Item[] }[] = []
  for (const item of items) {
    const { fullName, needs } = item
    const owner = fullName.slice(0, fullName.indexOf('/') + 1)
    const required = needs?.skills.map(({ name }) => (name.includes('/') ? name : owner + name)) ?? []
    const names = [fullName, ...Object.keys(skills[fullName]?.requires ?? {}), ...required]
    const linked = groups.filter((group) => group.names.some((name) => names.includes(name)))
    groups = groups.filter((group) => !linked.includes(group))
    groups.push({
      names: [...linked.flatMap((group) => group.names), ...names],
      items: [...linked.flatMap((group) => group.items), item],
    })
  }
  return groups.map((group) => group.items)
}
