import { type RegistryApi, toErrorText } from '@skillstead/protocol'
import { UsageError, command, flag, type Arguments } from '../../command/command.ts'
import {
  applyPlans,
  fetchPlans,
  listMissing,
  refuseDangerousPlans,
  showInstalled,
  type Installed,
} from '../../install/apply-plans.ts'
import { askForItems, parseWord, toLockedItem, toLockedItems, type Word } from '../../install/find-items.ts'
import { targetOptions } from '../../install/install-place.ts'
import { type LockedSkill } from '../../install/lock.ts'
import { recalledOption, toRefusal } from '../../install/recalls.ts'
import { listNotices } from '../../install/update-items.ts'
import { planItem, refuseSharedFolder, type Item, type ItemPlan } from '../../install/plan-folders.ts'
import { withMcpOption } from '../../install/plan-servers.ts'
import { addRequired, noDepsOption } from '../../install/requirements.ts'
import { forceOption, openSession, toLockSource, withSource, type Session } from '../../install/session.ts'
import { placeOptions, withApi } from '../../registry/place.ts'
import { dangerousOption } from '../../scan/dangerous.ts'

export const commands = {
  install: command({
    description:
      'Install skills for agents: owner/name, name, owner/name@1.2.3 or pack:SLUG. Without names, install what ' +
      'skills.lock has: the same bytes on every machine, from the cache where it has them.',
    words: ['[NAME...]'],
    options: {
      ...targetOptions,
      offline: { help: 'install the locked versions from the cache, without requests to a registry' },
      ...withMcpOption,
      ...noDepsOption,
      ...forceOption,
      ...dangerousOption,
      ...recalledOption,
      ...placeOptions,
    },
    async run(given, output) {
      const words = given.words.map(parseWord)
      refuseServersOption(given)
      refuseRecalledOption(given, words)
      const session = await openSession(given, output)
      if (words.length === 0) return installLocked(session)
      if (flag(given, 'offline')) return installItems(session, toLockedItems(session, words))
      return installWords(session, words)
    },
    show: showInstalled,
    hasFailed: ({ skipped, recalled }) => skipped.length > 0 || recalled.length > 0,
  }),
}

function refuseServersOption(given: Arguments): void {
  if (!flag(given, 'with-mcp')) return
  if (flag(given, 'global')) throw new UsageError('--with-mcp writes to a project. Pass it without --global.')
  if (given.words.length === 0)
    throw new UsageError('--with-mcp needs the names of skills: name those whose MCP servers you want.')
}

function refuseRecalledOption(given: Arguments, words: readonly Word[]): void {
  if (!flag(given, 'allow-recalled') || words.some((word) => 'version' in word && word.version !== undefined)) return
  throw new UsageError('--allow-recalled needs the exact version that you want, as owner/name@1.2.3.')
}

async function installWords(session: Session, words: readonly Word[]): Promise<Installed> {
  const work = async (api: RegistryApi) => {
    const source = toLockSource(session.given)
    const items = await addRequired(session, api, await askForItems(session, api, words, source), { source })
    const asked = await planItems(session, items)
    refuseDangerousPlans(session, asked)
    await fetchPlans(session, api, asked)
    return asked
  }
  const plans = await withApi(session.given, work, { installs: true })
  return applyPlans(session, plans)
}

/** Installs exactly what the lock says, except for recalled versions, and leaves the lock unchanged. */
async function installLocked(session: Session): Promise<Installed> {
  if (session.folders.length > 0)
    throw new UsageError('--agent and --dir need the names of skills. Without names, skills.lock sets the folders.')
  const locked = Object.entries(session.lock.skills)
  if (locked.length === 0)
    throw new UsageError(`${session.place.lockFolder} has no skills.lock with skills. Name the skills to install.`)
  if (!flag(session.given, 'offline')) await askForRecalls(session, locked)
  const recalled = locked.flatMap(([fullName, skill]) => {
    const found = session.recalls.find({ fullName, ...skill })
    return found ? [{ fullName, version: skill.version, found }] : []
  })
  const others = locked.filter(([name]) => !recalled.some(({ fullName }) => fullName === name))
  const result = await installItems(
    session,
    others.map(([fullName, skill]) => toLockedItem(session, fullName, skill)),
  )
  return {
    ...result,
    recalled: recalled.map(({ fullName, version }) => ({ fullName, version })),
    warnings: [...result.warnings, ...recalled.map((one) => toRefusal(one, one.found, 'It is left as it is.'))],
  }
}

/**
 * Asks the registries for recalls that the cache and the lock do not know yet. If a registry is unavailable, its last
 * report decides whether its skills are installed.
 */
async function askForRecalls(session: Session, locked: readonly [string, LockedSkill][]): Promise<void> {
  for (const [source, skills] of Map.groupBy(locked, ([, skill]) => skill.source)) {
    try {
      await listNotices(session, skills)
    } catch (error) {
      session.output.say(`Could not ask ${source} whether its skills were recalled: ${toErrorText(error)}`)
    }
  }
}

/** Installs the items. Skills in the cache need no further request to the registry. */
async function installItems(session: Session, items: readonly Item[]): Promise<Installed> {
  const plans = await planItems(session, items)
  const missing = await listMissing(session, plans)
  if (missing.length > 0 && flag(session.given, 'offline')) {
    const names = missing.map(({ fullName, version }) => `${fullName}@${version}`).join(', ')
    throw new Error(`${names} not found in the cache. Nothing was changed. Run the command without --offline.`)
  }
  for (const source of new Set(missing.map((item) => item.source))) {
    const some = plans.filter(({ item }) => item.source === source)
    await withSource(session.given, source, (api) => fetchPlans(session, api, some))
  }
  return applyPlans(session, plans)
}

async function planItems(session: Session, items: readonly Item[]): Promise<ItemPlan[]> {
  const plans: ItemPlan[] = []
  for (const item of items) plans.push(await planItem(session, item))
  refuseSharedFolder(items)
  return plans
}
