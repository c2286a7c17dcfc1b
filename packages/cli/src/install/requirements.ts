import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import {
  compareVersions,
  isRegistryError,
  isVersion,
  RegistryError,
  type RegistryApi,
  type Resolution,
} from '@skillstead/protocol'
import { parseVersionRange } from '@skillstead/skill-format'
import { flag, type Options } from '../command/command.ts'
import { askForItems } from './find-items.ts'
import { findLocked, isDigest, isFullName, type Lock } from './lock.ts'
import { isListOf, isObject, requireShape, waitForTurn } from './offer.ts'
import type { Item, ItemPlan } from './plan-folders.ts'
import { hasProjectServer } from './project-servers.ts'
import type { Session } from './session.ts'

/** Option that leaves out what skills require. */
export const noDepsOption: Options = {
  'no-deps': { help: 'leave out the skills that the skills require' },
}

/** A range that an installed skill sets for another skill. */
interface Constraint {
  readonly by: string
  readonly name: string
  readonly range: string
}

/** The ranges that a resolution begins with. `by`: the installed skill that sets the range. */
type Roots = { name: string; range: string; by?: string }[]

/** How {@link addRequired} adds skills. */
export interface Adding {
  readonly source: string
  readonly isUpdate?: boolean
  /** The full names of skills whose installed version was yanked or recalled: an update may choose a lower version. */
  readonly withdrawn?: ReadonlySet<string>
}

/**
 * The items of a command with the skills that they require, from the same registry. Installed skills stay as they are
 * where they are in the ranges and not known to be recalled. An update keeps a skill in the ranges of the installed
 * skills that require it; an install of a version outside them is refused. Throws for conflicts, cycles and skills that
 * do not exist, as the registry explains them.
 */
export async function addRequired(
  session: Session,
  api: RegistryApi,
  asked: readonly Item[],
  { source, isUpdate = false, withdrawn }: Adding,
): Promise<Item[]> {
  if (flag(session.given, 'no-deps')) return [...asked]
  const names = new Set(asked.map(({ fullName }) => fullName))
  const all = Object.entries(session.lock.skills).flatMap(([by, skill]) =>
    skill.source === source
      ? Object.entries(skill.requires ?? {}).map(([name, range]): Constraint => ({ by, name, range }))
      : [],
  )
  const kept = all.filter(({ by }) => !names.has(by))
  const isRequired = (fullName: string) => all.some(({ name }) => name === fullName)
  if (!isUpdate) refuseOutside(asked, kept)
  const isPlain = asked.every(({ fullName, needs }) => !needs?.skills.length && !(isUpdate && isRequired(fullName)))
  if (isPlain || asked.length === 0) return [...asked]
  const roots = asked.flatMap(({ fullName, version }): Roots => {
    if (!isUpdate || !isRequired(fullName)) return [{ name: fullName, range: version }]
    return kept.filter(({ name }) => name === fullName)
  })
  const resolution = await resolveWithin(session, api, roots, kept)
  const items: Item[] = []
  for (const item of asked) {
    const chosen = resolution.skills.find(({ fullName }) => fullName === item.fullName)
    if (!isUpdate || chosen?.version === item.version) items.push(item)
    else
      items.push(
        ...(await stayInRange(session, api, {
          item,
          chosen: chosen?.version,
          source,
          all,
          isWithdrawn: withdrawn?.has(item.fullName) ?? false,
        })),
      )
  }
  for (const one of listAdded(session, resolution, { names, kept, source })) {
    const [by] = one.requiredBy
    session.output.say(`${by?.fullName} requires ${one.fullName} ${by?.range}: ${toAddition(session.lock, one)}.`)
    const added = await askForItems(session, api, [{ name: one.fullName, version: one.version }], source)
    items.push(...added.map((item) => ({ ...item, requiredBy: one.requiredBy.map(({ fullName }) => fullName) })))
  }
  refuseOtherContent(items, resolution)
  return items.map((item) => ({ ...item, requires: toLockedRequires(item, resolution) ?? item.requires }))
}

/** What the addition of a required skill changes; the skill may be installed in another version. */
function toAddition(lock: Lock, { fullName, version }: Resolution['skills'][number]): string {
  const installed = findLocked(lock, fullName)?.version
  if (installed === undefined || installed === version) return `${version} is added`
  return `it ${compareVersions(version, installed) < 0 ? 'goes back' : 'is updated'} from ${installed} to ${version}`
}

function isWithin(version: string, ranges: readonly { readonly range: string }[]): boolean {
  return ranges.every(({ range }) => parseVersionRange(range)?.includes(version) ?? false)
}

function refuseOutside(asked: readonly Item[], constraints: readonly Constraint[]): void {
  for (const { fullName, version } of asked) {
    const broken = constraints.find((one) => one.name === fullName && !isWithin(version, [one]))
    if (!broken) continue
    throw new Error(
      `${broken.by} is installed and requires ${fullName} ${broken.range}, which excludes ${version}. Nothing was changed. ` +
        `Install another version, update ${broken.by}, or pass --no-deps.`,
    )
  }
}

/**
 * Resolves the roots. If the result has a version outside the ranges of installed skills, resolves again within them.
 */
async function resolveWithin(
  session: Session,
  api: RegistryApi,
  roots: Roots,
  constraints: readonly Constraint[],
): Promise<Resolution> {
  const first = await resolve(session, api, roots)
  const outside = constraints.filter(({ name, range }) =>
    first.skills.some(({ fullName, version }) => fullName === name && !isWithin(version, [{ range }])),
  )
  return outside.length === 0 ? first : resolve(session, api, [...roots, ...outside])
}

async function resolve({ output, lock }: Session, api: RegistryApi, roots: Roots): Promise<Resolution> {
  const skills = roots.map(({ name, range }) => ({ name, range }))
  if (skills.length === 0) return { skills: [], missing: [] }
  const resolution = await waitForTurn(() => api.resolveSkills({ skills }), output.say).catch((error: unknown) => {
    throw nameInstalled(error, roots, lock)
  })
  requireShape(isListOf(resolution?.skills, isResolved))
  return resolution
}

/** Names the installed skill that sets a range in a conflict; the registry only says that the range was requested. */
function nameInstalled(error: unknown, roots: Roots, { skills }: Lock): unknown {
  if (!isRegistryError(error, 'conflict')) return error
  let { message } = error
  for (const { name, range, by } of roots) {
    if (by === undefined || !message.startsWith(`No version of ${name} `)) continue
    const text = `${parseVersionRange(range)?.text} (`
    message = message.replace(
      `${text}requested)`,
      () => `${text}required by the installed ${by} ${skills[by]?.version})`,
    )
  }
  return new RegistryError('conflict', message)
}

function isResolved(row: unknown): boolean {
  if (!isObject(row)) return false
  const isNamed = isFullName(String(row.fullName)) && isVersion(String(row.version)) && isDigest(row.digest)
  return isNamed && isListOf(row.requiredBy, isRequirer)
}

function isRequirer(row: unknown): boolean {
  return isObject(row) && isFullName(String(row.fullName)) && parseVersionRange(String(row.range)) !== undefined
}

/**
 * The update of a skill that other skills require: to `chosen` if that version is newer, or if the installed version
 * was withdrawn; otherwise no update. Prints the reason.
 */
async function stayInRange(
  session: Session,
  api: RegistryApi,
  {
    item,
    chosen,
    source,
    all,
    isWithdrawn,
  }: { item: Item; chosen: string | undefined; source: string; all: Constraint[]; isWithdrawn: boolean },
): Promise<Item[]> {
  // The updates of the other skills no longer require this skill.
  if (isWithdrawn && chosen === undefined) return [item]
  const { fullName, version: latest } = item
  const current = session.lock.skills[fullName]!.version
  const by = all.filter(({ name }) => name === fullName).map((one) => `${one.by} requires ${one.range}`)
  const step = chosen === undefined ? 0 : compareVersions(chosen, current)
  const target = step > 0 || (step < 0 && isWithdrawn) ? chosen : undefined
  const change = target === undefined ? `stays at ${current}` : `${step > 0 ? 'is updated' : 'goes back'} to ${target}`
  session.output.say(`${fullName} ${change}, not ${latest}: ${by.join(', ')}.`)
  return target === undefined ? [] : askForItems(session, api, [{ name: fullName, version: target }], source)
}

/** The skills of a resolution that are to be installed in addition to the named skills. */
function listAdded(
  { lock, recalls }: Session,
  { skills }: Resolution,
  { names, kept, source }: { names: ReadonlySet<string>; kept: readonly Constraint[]; source: string },
): Resolution['skills'] {
  const wanted = new Set<string>(names)
  const added: Resolution['skills'] = []
  // The skills that require a skill come after it in the list.
  for (const one of skills.toReversed()) {
    const { fullName, requiredBy } = one
    if (names.has(fullName) || !requiredBy.some((requirer) => wanted.has(requirer.fullName))) continue
    const locked = Object.hasOwn(lock.skills, fullName) ? lock.skills[fullName] : undefined
    const ranges = [...requiredBy, ...kept.filter(({ name }) => name === fullName)]
    const isKept = locked?.source === source && isWithin(locked.version, ranges)
    if (isKept && !recalls.find({ ...locked, fullName })) continue
    wanted.add(fullName)
    added.unshift(one)
  }
  return added
}

function refuseOtherContent(items: readonly Item[], { skills }: Resolution): void {
  for (const { fullName, version, digest } of items) {
    const resolved = skills.find((one) => one.fullName === fullName && one.version === version)
    if (resolved && resolved.digest !== digest)
      throw new Error(
        `The registry returned two different digests for ${fullName}@${version}. Nothing was changed. ` +
          'Report this to the operator of the registry.',
      )
  }
}

/** The ranges that an item sets for other skills, for the lock. */
function toLockedRequires({ fullName }: Item, { skills }: Resolution): Record<string, string> | undefined {
  if (!skills.some((one) => one.fullName === fullName)) return undefined
  const entries = skills.flatMap((one) =>
    one.requiredBy.flatMap((by) => (by.fullName === fullName ? [[one.fullName, by.range] as const] : [])),
  )
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}

/**
 * Commands, MCP servers and variables that the written skills need and this machine seems to lack. This program never
 * installs them.
 */
export function listNeeds({ given, place }: Session, plans: readonly ItemPlan[]): string[] {
  const { env } = given.io
  return plans.flatMap(({ item: { fullName, needs }, writes }) => {
    if (!needs || writes.length === 0) return []
    const commands = needs.commands.filter((names) => !names.split(' | ').some((name) => isInPath(name, env)))
    const servers = needs.mcpServers.filter((name) => place.isGlobal || !hasProjectServer(place, name))
    const variables = needs.env.filter((name) => !env[name])
    return [
      ...commands.map(
        (names) => `${fullName} needs the command ${names.replaceAll(' | ', ' or ')}, which is not in PATH.`,
      ),
      ...servers.map((name) => `${fullName} needs the MCP server ${name}. Add it to your client if it is not there.`),
      ...variables.map((name) => `${fullName} needs the environment variable ${name}, which is not set.`),
    ]
  })
}

function isInPath(name: string, env: Readonly<Record<string, string | undefined>>): boolean {
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter(Boolean)
  const ends = process.platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')] : ['']
  return folders.some((folder) => ends.some((end) => isExecutable(join(folder, `${name}${end}`))))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
