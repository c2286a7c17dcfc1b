import { RegistryError, type RegistryApi } from '@skillstead/protocol'
import { command } from '../../command/command.ts'
import { applyPlans, fetchPlans, refuseDangerousPlans, showInstalled } from '../../install/apply-plans.ts'
import { askForItems } from '../../install/find-items.ts'
import { globalOption } from '../../install/install-place.ts'
import { findLocked } from '../../install/lock.ts'
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
      for (const [source, some] of Map.groupBy(notices.filter(isUpdate), (notice) => notice.source))
        plans.push(...(await planUpdates(session, source, some)))
      const result = await applyPlans(session, plans)
      const left = notices.filter(({ reason, fullName }) => reason === 'recalled' && !isPlanned(plans, fullName))
      const others = notices.filter((notice) => !isUpdate(notice) || left.includes(notice)).map(toNoticeText)
      return { ...result, recalled: left.map(toName), warnings: [...result.warnings, ...others] }
    },
    show(result) {
      const lines = showInstalled(result)
      return lines.length > 0 ? lines : ['All skills are at their latest version.']
    },
    hasFailed: ({ skipped, recalled }) => skipped.length > 0 || recalled.length > 0,
  }),
}

function isPlanned(plans: readonly ItemPlan[], name: string): boolean {
  return plans.some(({ item: { fullName, formerName } }) => fullName === name || formerName === name)
}

function toName({ fullName, version }: Notice) {
  return { fullName, version }
}

function planUpdates(session: Session, source: string, notices: readonly Notice[]): Promise<ItemPlan[]> {
  return withSource(session.given, source, async (api) => {
    const words = notices.map(({ fullName, latestVersion }) => ({
      name: fullName,
      version: latestVersion ?? undefined,
    }))
    const withdrawn = new Set(notices.filter(isWithdrawn).map(({ fullName }) => fullName))
    const plans: ItemPlan[] = []
    const latest = await askForItems(session, api, words, source)
    for (const item of await addWithin(session, api, latest, { source, isUpdate: true, withdrawn }))
      plans.push(await planItem(session, item))
    refuseSharedFolder(plans.map(({ item }) => item))
    refuseDangerousPlans(session, plans)
    await fetchPlans(session, api, plans)
    return plans
  })
}

/** A recalled skill that cannot be replaced in the ranges of those that require it does not keep the others from updates. */
async function addWithin(session: Session, api: RegistryApi, latest: readonly Item[], adding: Adding): Promise<Item[]> {
  try {
    return await addRequired(session, api, latest, adding)
  } catch (error) {
    const required = new Set(Object.values(session.lock.skills).flatMap(({ requires = {} }) => Object.keys(requires)))
    const others = latest.filter(({ fullName }) => {
      const locked = findLocked(session.lock, fullName)
      return !locked || !required.has(fullName) || !session.recalls.find({ fullName, ...locked })
    })
    const isConflict = error instanceof RegistryError && error.code === 'conflict'
    if (!isConflict || others.length === latest.length) throw error
    session.output.say(error.message)
    return addRequired(session, api, others, adding)
  }
}
