import type { RegistryApi } from '@skillstead/protocol'
import { UsageError, flag, type Arguments, type Command } from '../command.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, requireUser, userOption, withApi } from '../place.ts'

const options = { ...userOption, ...placeOptions }

interface Yanked {
  readonly name: string
  readonly version: string
  readonly yanked: boolean
}

/** `skillstead yank NAME@VERSION`. */
export const yank: Command<Yanked> = {
  summary: 'Yank a version: it leaves search and new installs, and is still served by its exact number.',
  words: ['NAME@VERSION'],
  options,
  run: (given) => change(given, true, (api, input) => api.yankVersion(input)),
  show: ({ name, version }) => [`Yanked ${name}@${version}. Undo with \`skillstead unyank ${name}@${version}\`.`],
}

/** `skillstead unyank NAME@VERSION`. */
export const unyank: Command<Yanked> = {
  summary: 'Undo the yank of a version.',
  words: ['NAME@VERSION'],
  options,
  run: (given) => change(given, false, (api, input) => api.unyankVersion(input)),
  show: ({ name, version }) => [`${name}@${version} is no longer yanked.`],
}

interface Deprecated {
  readonly fullName: string
  readonly deprecated: boolean
  readonly deprecationMessage: string
}

/** `skillstead deprecate NAME [MESSAGE...]`. */
export const deprecate: Command<Deprecated> = {
  summary: 'Mark a skill as deprecated; users who show, install or update it see the message.',
  words: ['NAME', '[MESSAGE...]'],
  options: { undo: { help: 'undo the deprecation' }, ...options },
  async run(given) {
    const [name, ...message] = given.words as [string, ...string[]]
    if (flag(given, 'undo') && message.length > 0) throw new UsageError('Pass a message or --undo, not both.')
    const deprecated = !flag(given, 'undo')
    const input = { name, deprecated, deprecationMessage: message.join(' ') }
    const { skill } = await withApi(given, (api) => api.publishSkill(input), { as: requireOwner(given) })
    return { fullName: skill.fullName, deprecated: skill.deprecated, deprecationMessage: skill.deprecationMessage }
  },
  show: ({ fullName, deprecated, deprecationMessage }) => [
    deprecated
      ? `${fullName} is deprecated${deprecationMessage === '' ? '.' : `: ${toOneLine(deprecationMessage)}`}`
      : `${fullName} is no longer deprecated.`,
  ],
}

async function change(
  given: Arguments,
  yanked: boolean,
  work: (api: RegistryApi, input: { name: string; version: string }) => Promise<unknown>,
): Promise<Yanked> {
  const [, name, version] = /^(.+)@(\d+\.\d+\.\d+)$/.exec(given.words[0]!) ?? []
  if (name === undefined || version === undefined)
    throw new UsageError(`'${given.words[0]}' has no version. Use the form NAME@1.2.3.`)
  await withApi(given, (api) => work(api, { name, version }), { as: requireOwner(given) })
  return { name, version, yanked }
}

function requireOwner(given: Arguments): string | undefined {
  return requireUser(given, "The skill's owner is missing. Pass --user NAME.")
}
