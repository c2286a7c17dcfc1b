import type { AddOptions, ChangeOptions, Filters, MirrorMode, NetworkMode, UpstreamKind } from '@skillstead/mirror'
import { askKey } from '../ask-key.ts'
import { UsageError, choice, flag, text, type Arguments, type Option } from '../command.ts'
import type { Io } from '../io.ts'
import { outgoingOptions } from '../outgoing-options.ts'
import { readGivenKeys } from '../verify/given-keys.ts'

const networkModes = ['online', 'prefer-local', 'offline'] as const satisfies readonly NetworkMode[]
const kinds = ['node', 'registry', 'discovery', 'git', 'folder', 'bundle'] as const satisfies readonly UpstreamKind[]
const modes = ['full', 'selected', 'pull-through'] as const satisfies readonly MirrorMode[]

/** Whether upstreams are asked, and what they are never asked for. */
export const networkOptions: Record<string, Option> = {
  network: {
    value: 'MODE',
    help: 'when upstreams are asked: online, prefer-local (unless it is said), or offline: never (or SKILLSTEAD_NETWORK)',
    env: 'SKILLSTEAD_NETWORK',
  },
  'private-names': {
    value: 'PATTERN,...',
    help: 'names that stay here, * for anything: never asked upstream (or SKILLSTEAD_PRIVATE_NAMES)',
    env: 'SKILLSTEAD_PRIVATE_NAMES',
  },
}

/** As {@link networkOptions}, for a command that asks by itself. */
export const askingOptions: Record<string, Option> = { ...networkOptions, ca: outgoingOptions.ca! }

/** What is taken of an upstream. */
export const filterOptions: Record<string, Option> = {
  owner: { value: 'NAME,...', help: 'only of these owners' },
  name: { value: 'NAME,...', help: 'only these, full or short, * for anything' },
  keyword: { value: 'WORD,...', help: 'only what has one of these keywords' },
  category: { value: 'NAME,...', help: 'only of these categories' },
  license: { value: 'NAME,...', help: 'only under these licences' },
  verified: { help: 'only of owners who are verified there' },
  'min-score': { value: 'N', help: 'only what our own scan gives as many of 100' },
  'max-size': { value: 'SIZE', help: 'only versions up to this, as 200k or 5M' },
}

/** What an operator sets for an upstream. */
export const upstreamOptions: Record<string, Option> = {
  kind: { value: 'KIND', help: `${kinds.join(', ')}; found out unless it is said` },
  mode: {
    value: 'MODE',
    help: 'full (unless it is said), selected: what --select names, or pull-through: what somebody asks for',
  },
  select: { value: 'NAME,...', help: 'takes only these, full or short; * for anything' },
  every: { value: 'TIME', help: 'how often a node syncs it, as 30s, 15m (unless it is said), 6h; 0 for by hand' },
  priority: { value: 'N', help: 'the higher is synced first, and gets a name that two have; 0 unless it is said' },
  'max-age': { value: 'TIME', help: 'how old its newest checkpoint may be; 24h unless it is said, 0 for any age' },
  key: { value: 'VKEY', help: 'the public key that signs its log, or a FILE of it: no other is believed' },
  'api-key': {
    value: 'KEY',
    help: 'your key there, for private skills; - asks for it, or reads standard input; kept encrypted (or SKILLSTEAD_UPSTREAM_KEY)',
    env: 'SKILLSTEAD_UPSTREAM_KEY',
  },
  ...filterOptions,
}

/** Throws {@link UsageError}. */
export function toNetworkMode(given: Arguments): NetworkMode | undefined {
  return choice(text(given, 'network'), networkModes, 'network mode')
}

/** The names that stay here. */
export function toPrivateNames(given: Arguments): string[] | undefined {
  return toList(given, 'private-names')
}

/** Throws {@link UsageError}. */
export function toFilters(given: Arguments): Filters {
  const score = text(given, 'min-score')
  if (score !== undefined && !/^(?:\d{1,2}|100)$/.test(score))
    throw new UsageError(`'${score}' is no score: a number from 0 to 100 is needed.`)
  const filters: Filters = {
    owners: toList(given, 'owner'),
    names: toList(given, 'name'),
    keywords: toList(given, 'keyword'),
    categories: toList(given, 'category'),
    licenses: toList(given, 'license'),
    verified: flag(given, 'verified') || undefined,
    minSecurityScore: score === undefined ? undefined : Number(score),
    sizeMax: toBytes(text(given, 'max-size')),
  }
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
}

/** As {@link upstreamOptions}, for one that is followed already: what it is stays. */
export const changeOptions: Record<string, Option> = {
  location: { value: 'URL|PATH', help: 'where it is now' },
  ...Object.fromEntries(Object.entries(upstreamOptions).filter(([name]) => name !== 'kind')),
  // Not from the environment: what is set there for another command would replace the one that is kept.
  'api-key': { value: 'KEY', help: 'another key there; - asks for it, or reads standard input' },
  'no-filters': { help: 'takes what was filtered out as well; filters that are given stand for all there were' },
}

/** As {@link toAddOptions}, for one that is followed already. Throws {@link UsageError}. */
export function toChangeOptions(given: Arguments): ChangeOptions {
  const { kind: _, filters = {}, ...options } = toAddOptions(given)
  const isFiltered = Object.keys(filters).length > 0
  if (isFiltered && flag(given, 'no-filters')) throw new UsageError('Give filters or --no-filters, not both.')
  const changes = { ...options, location: text(given, 'location') }
  const changed = isFiltered || flag(given, 'no-filters') ? { ...changes, filters } : changes
  if (Object.values(changed).some((value) => value !== undefined)) return changed
  throw new UsageError('Say what is to change; `skillstead mirror set --help` lists what can.')
}

/** With the API key that is asked for, or read from standard input, where `-` stands for it. */
export async function withAskedKey<T extends { apiKey?: string }>(io: Io, options: T, location: string): Promise<T> {
  return options.apiKey === '-' ? { ...options, apiKey: await askKey(io, location) } : options
}

/** What was said of an upstream, and nothing for what was not. Throws {@link UsageError}. */
export function toAddOptions(given: Arguments): AddOptions {
  const priority = text(given, 'priority')
  if (priority !== undefined && !/^-?\d{1,9}$/.test(priority))
    throw new UsageError(`'${priority}' is no priority: a whole number is needed.`)
  return {
    kind: choice(text(given, 'kind'), kinds, 'kind of upstream'),
    // Who chooses wants what was chosen.
    mode: choice(text(given, 'mode'), modes, 'mode') ?? (text(given, 'select') === undefined ? undefined : 'selected'),
    selected: toList(given, 'select'),
    everySeconds: toSeconds(given, 'every'),
    maxAgeSeconds: toSeconds(given, 'max-age'),
    priority: priority === undefined ? undefined : Number(priority),
    key: toKey(text(given, 'key')),
    apiKey: text(given, 'api-key'),
    filters: toFilters(given),
  }
}

/** What is pinned is one key: the log vouches for the next. */
export function toKey(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const [key, ...others] = readGivenKeys(given)
  if (others.length === 0) return key
  throw new UsageError(`'${given}' holds ${others.length + 1} keys: pin one, and the log itself vouches for the next.`)
}

const secondsOf: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 }
const secondsMax = 366 * 86_400
const bytesOf: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 }

function toSeconds(given: Arguments, option: string): number | undefined {
  const written = text(given, option)
  if (written === undefined) return undefined
  const [, number, unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(written) ?? []
  if (number !== undefined && Number(number) * secondsOf[unit]! > secondsMax)
    throw new UsageError(`'${written}' is too long for --${option}: a year, 366d, is the most.`)
  if (number === undefined) throw new UsageError(`'${written}' is no time: write it as 30s, 15m, 6h or 2d, or 0.`)
  return Number(number) * secondsOf[unit]!
}

function toBytes(written: string | undefined): number | undefined {
  if (written === undefined) return undefined
  const [, number, unit = ''] = /^(\d{1,12})([kmg]?)$/i.exec(written) ?? []
  if (number === undefined) throw new UsageError(`'${written}' is no size: write it in bytes, or as 200k or 5M.`)
  return Number(number) * bytesOf[unit.toLowerCase()]!
}

function toList(given: Arguments, option: string): string[] | undefined {
  const parts = text(given, option)
    ?.split(',')
    .map((part) => part.trim())
  return parts?.filter((part) => part !== '')
}
