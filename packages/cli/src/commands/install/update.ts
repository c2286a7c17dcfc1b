import { command } from '../../command/command.ts'
import { applyPlans, fetchPlans, refuseDangerousPlans, showInstalled } from '../../install/apply-plans.ts'
import { askForItems } from '../../install/find-items.ts'
import { globalOption } from '../../install/install-place.ts'
import { planItem, refuseSharedFolder, type ItemPlan } from '../../install/plan-folders.ts'
import { addRequired, noDepsOption } from '../../install/requirements.ts'
import { forceOption, listLocked, openSession, withSource, type Session } from '../../install/session.ts'
import { isUpdate, listNotices, toNoticeText, type Notice } from '../../install/update-items.ts'
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
      const others = notices.filter((notice) => !isUpdate(notice)).map(toNoticeText)
      const result = await applyPlans(session, plans)
      return { ...result, warnings: [...result.warnings, ...others] }
    },
    show(result) {
      const lines = showInstalled(result)
      return lines.length > 0 ? lines : ['All skills are at their latest version.']
    },
    hasFailed: ({ skipped }) => skipped.length > 0,
  }),
}

function planUpdates(session: Session, source: string, notices: readonly Notice[]): Promise<ItemPlan[]> {
  return withSource(session.given, source, async (api) => {
    const words = notices.map(({ fullName, latestVersion }) => ({
      name: fullName,
      version: latestVersion ?? undefined,
    }))
    const plans: ItemPlan[] = []
    const latest = await askForItems(session, api, words, source)
    for (const item of await addRequired(session, api, latest, { source, isUpdate: true }))
      plans.push(await planItem(session, item))
    refuseSharedFolder(plans.map(({ item }) => item))
    refuseDangerousPlans(session, plans)
    await fetchPlans(session, api, plans)
    return plans
  })
}
