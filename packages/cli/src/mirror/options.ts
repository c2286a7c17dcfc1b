import { withoutUndefined } from '@skillstead/protocol'
import type { AddOptions, ChangeOptions, Filters, MirrorMode, NetworkMode, UpstreamKind } from '@skillstead/mirror'
import { UsageError, flag, textOption, type Arguments, type Options } from '../command/command.ts'
import { choice, listOption, toUnits, wholeNumberOption } from '../command/values.ts'
import { outgoingOptions } from '../registry/outgoing-options.ts'
import { askKey } from '../terminal/ask-key.ts'
import type { Io } from '../terminal/io.ts'
import { readGivenKeys } from '../verify/read-keys.ts'

const networkModes = ['online', 'prefer-local', 'offline'] as const satisfies readonly NetworkMode[]
const kinds = ['node', 'registry', 'discovery', 'git', 'folder', 'bundle'] as const satisfies readonly UpstreamKind[]
const modes = ['full', 'selected', 'pull-through'] as const satisfies readonly MirrorMode[]

/** Whether upstreams are asked, and which names are never sent to them. */
export const networkOptions: Options = {
  network: {
    value: 'MODE',
    help: 'when to ask upstreams: online, prefer-local, or offline for never (or SKILLSTEAD_NETWORK). Default: prefer-local',
    env: 'SKILLSTEAD_NETWORK',
  },
  'private-names': {
    value: 'PATTERN,...',
    help: 'names that are never sent upstream, * matches anything (or SKILLSTEAD_PRIVATE_NAMES)',
    env: 'SKILLSTEAD_PRIVATE_NAMES',
  },
}

/** Like {@link networkOptions}, for a command that itself makes requests. */
export const askingOptions: Options = { ...networkOptions, ca: outgoingOptions.ca! }

/** Options for importing the log of an upstream. */
export const applyOptions: Options = {
  full: { help: 'import again from the beginning: compare the stored content and import what is missing' },
  'allow-removals': { help: 'continue even if the sync hides more than 1 % of the skills' },
  accept: { value: 'REASON', help: 'resume after you have checked this pause reason; `mirror status` shows it' },
}

/** Filters for the skills of an upstream. */
export const filterOptions: Options = {
  owner: { value: 'NAME,...', help: 'only skills of these owners' },
  name: { value: 'NAME,...', help: 'only skills with these full or short names, * matches anything' },
  keyword: { value: 'WORD,...', help: 'only skills with one of these keywords' },
  category: { value: 'NAME,...', help: 'only skills of these categories' },
  license: { value: 'NAME,...', help: 'only skills under these licences' },
  verified: { help: 'only skills of owners whom the upstream has verified' },
  'min-score': { value: 'N', help: 'only versions that our own scan rates at N of 100 or more' },
  'max-size': { value: 'SIZE', help: 'only versions up to this size, such as 200k or 5M' },
}

/** Settings of an upstream. */
export const upstreamOptions: Options = {
  kind: { value: 'KIND', help: `${kinds.join(', ')}. Default: detected` },
  mode: {
    value: 'MODE',
    help: 'full, selected (the skills of --select), or pull-through (skills on first request). Default: full',
  },
  select: { value: 'NAME,...', help: 'only skills with these full or short names; * matches anything' },
  every: { value: 'TIME', help: 'the sync interval, such as 30s, 15m or 6h; 0 for manual syncs only. Default: 15m' },
  priority: {
    value: 'N',
    help: 'upstreams with a higher priority are synced first and win name conflicts. Default: 0',
  },
  'max-age': {
    value: 'TIME',
    help: 'the maximum age of the newest checkpoint of the upstream; 0 for any age. Default: 24h',
  },
  key: {
    value: 'VKEY',
    help: 'the public key that signs the log of the upstream, or a FILE with it; no other key is trusted',
  },
  'api-key': {
    value: 'KEY',
    help: 'your upstream API key, for private skills; - prompts for it, or reads standard input; stored encrypted (or SKILLSTEAD_UPSTREAM_KEY)',
    env: 'SKILLSTEAD_UPSTREAM_KEY',
  },
  ...filterOptions,
}

/** The network mode of the options. Throws {@link UsageError} for an invalid mode. */
export function toNetworkMode(given: Arguments): NetworkMode | undefined {
  return choice(textOption(given, 'network'), networkModes, 'network mode')
}

/** Names that are never sent upstream. */
export function toPrivateNames(given: Arguments): string[] | undefined {
  return listOption(given, 'private-names')
}

/** The filters of the options. Throws {@link UsageError} for invalid filters. */
export function toFilterSettings(given: Arguments): Filters {
  return withoutUndefined({
    owners: listOption(given, 'owner'),
    names: listOption(given, 'name'),
    keywords: listOption(given, 'keyword'),
    categories: listOption(given, 'category'),
    licenses: listOption(given, 'license'),
    verified: flag(given, 'verified') || undefined,
    minSecurityScore: wholeNumberOption(given, 'min-score', 'score', [0, 100]),
    sizeMax: parseBytes(textOption(given, 'max-size')),
  })
}

/** Like {@link upstreamOptions}, for an existing upstream, whose kind cannot change. */
export const changeOptions: Options = {
  location: { value: 'URL|PATH', help: 'the new URL or path' },
  ...Object.fromEntries(Object.entries(upstreamOptions).filter(([name]) => name !== 'kind')),
  // This option is never read from the environment: a variable set for another command would replace the stored key.
  'api-key': { value: 'KEY', help: 'a new upstream API key; - prompts for it, or reads standard input' },
  'no-filters': { help: 'remove all filters. Filters that are given replace all earlier ones' },
}

/** Like {@link toAddOptions}, for an existing upstream. Throws {@link UsageError}. */
export function toChangeOptions(given: Arguments): ChangeOptions {
  const { kind: _, filters = {}, ...options } = toAddOptions(given)
  const isFiltered = Object.keys(filters).length > 0
  if (isFiltered && flag(given, 'no-filters')) throw new UsageError('Pass filters or --no-filters, not both.')
  const changes = { ...options, location: textOption(given, 'location') }
  const changed = isFiltered || flag(given, 'no-filters') ? { ...changes, filters } : changes
  if (Object.values(changed).some((value) => value !== undefined)) return changed
  throw new UsageError('Nothing to change. `skillstead mirror set --help` lists the settings.')
}

/** Replaces an API key of `-` by one from a prompt or standard input. */
export async function withAskedKey<T extends { apiKey?: string }>(io: Io, options: T, location: string): Promise<T> {
  return options.apiKey === '-' ? { ...options, apiKey: await askKey(io, location) } : options
}

/** The settings of an upstream that the options set. Throws {@link UsageError}. */
export function toAddOptions(given: Arguments): AddOptions {
  return {
    kind: choice(textOption(given, 'kind'), kinds, 'kind of upstream'),
    // --select implies the mode `selected`.
    mode:
      choice(textOption(given, 'mode'), modes, 'mode') ??
      (textOption(given, 'select') === undefined ? undefined : 'selected'),
    selected: listOption(given, 'select'),
    everySeconds: parseSeconds(given, 'every'),
    maxAgeSeconds: parseSeconds(given, 'max-age'),
    priority: wholeNumberOption(given, 'priority', 'priority', [-999_999_999, 999_999_999], 'Use a whole number.'),
    key: toPinnedKey(textOption(given, 'key')),
    apiKey: textOption(given, 'api-key'),
    filters: toFilterSettings(given),
  }
}

/** The verifier key to pin. Throws {@link UsageError} for several keys, because the log itself announces later keys. */
export function toPinnedKey(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const [key, ...others] = readGivenKeys(given)
  if (others.length === 0) return key
  throw new UsageError(
    `'${given}' contains ${others.length + 1} keys. Pass only the current key: if it changes later, the signed log ` +
      'announces the new one.',
  )
}

const secondsOf: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 }
const secondsMax = 366 * 86_400
const bytesOf: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 }

function parseSeconds(given: Arguments, option: string): number | undefined {
  const written = textOption(given, option)
  if (written === undefined) return undefined
  const seconds = toUnits(written, secondsOf)
  if (seconds > secondsMax) throw new UsageError(`'${written}' is too long for --${option}. Use at most 366d.`)
  if (seconds >= 0) return seconds
  throw new UsageError(`'${written}' is not a time. Use a form such as 30s, 15m, 6h or 2d, or 0.`)
}

function parseBytes(written: string | undefined): number | undefined {
  if (written === undefined) return undefined
  const bytes = toUnits(written.toLowerCase(), bytesOf)
  if (bytes >= 0) return bytes
  throw new UsageError(`'${written}' is not a size. Use bytes, or a form such as 200k or 5M.`)
}
