import { toOneLine, type Pack, type Visibility, toShortName } from '@skillstead/protocol'
import { textOption } from '../../command/command.ts'
import { parseSkillWord } from '../../command/values.ts'
import { apiCommand } from '../../registry/api-command.ts'
import { endpointCommand, endpointList } from '../../registry/endpoint-command.ts'
import { writePlugin, type WrittenPlugin } from '../../plugin/write-plugin.ts'
import { toCount } from '../../terminal/output.ts'
import { toReasonLines, toWarningLine } from '../../terminal/reason-lines.ts'

const actor = 'owner of the pack or publisher of its organisation'
const visibilities = ['public', 'internal', 'private'] as const

export const commands = {
  'pack list': endpointList('listPacks', {
    description: 'List packs of skills.',
    words: { '[QUERY]': 'q' },
    rows: 'packs',
    toLines: ({ slug, name, curator, skillCount }) => [
      `${slug}  ${toCount(skillCount, 'skill')}, by ${curator.username}`,
      `  ${toOneLine(name)}`,
    ],
  }),
  'pack show': apiCommand({
    description:
      "Show a pack with its skills, and the size of their listing in an agent's context. With --plugin, write it as a plugin.",
    words: ['SLUG'],
    options: {
      plugin: { value: 'PATH', help: 'write a plugin (Agent Plugins 1.0.0) to a new folder, or to a new .zip' },
    },
    async call(api, given, output) {
      const pack = await api.getPack({ slug: given.words[0] })
      const path = textOption(given, 'plugin')
      return path === undefined ? pack : { ...pack, plugin: await writePlugin(api, pack, path, output.say) }
    },
    show: (pack) => ('plugin' in pack ? toWrittenLines(pack.plugin) : toPackLines(pack)),
  }),
  'pack create': apiCommand({
    description: 'Create a pack. NAME is a skill; NAME@VERSION pins its version.',
    words: ['SLUG', '[NAME...]'],
    options: {
      name: { value: 'TEXT', help: 'the display name. Default: the slug' },
      description: { value: 'TEXT', help: 'what the pack is for' },
      visibility: { value: 'WHO', help: 'who can see the pack', choices: visibilities },
      organisation: { value: 'NAME', help: 'the organisation that owns the pack. Default: you' },
    },
    actor,
    async call(api, given) {
      const [slug, ...words] = given.words
      const visibility = textOption<Visibility>(given, 'visibility')
      const [name = slug, description = ''] = [textOption(given, 'name'), textOption(given, 'description')]
      const owner = textOption(given, 'organisation')
      return api.createPack({ slug, name, description, visibility, owner, skills: words.map(parseSkillWord) })
    },
    show: (pack) => [
      `Created the pack ${pack.slug}: ${toBudgetText(pack)}.`,
      ...(pack.warnings ?? []).map(toWarningLine),
    ],
  }),
  'pack add': apiCommand({
    description:
      'Add skills to the end of a pack. NAME@VERSION pins a version, also of a skill that is already in the pack.',
    words: ['SLUG', 'NAME...'],
    options: { note: { value: 'TEXT', help: 'why these skills are in the pack' } },
    actor,
    async call(api, given) {
      const [slug, ...words] = given.words
      const note = textOption(given, 'note')
      return api.updatePack({ slug, add: words.map((word) => ({ ...parseSkillWord(word), note })) })
    },
    show: (pack) => [`The pack ${pack.slug} now has ${toBudgetText(pack)}.`],
  }),
  'pack remove': apiCommand({
    description: 'Remove skills from a pack.',
    words: ['SLUG', 'NAME...'],
    actor,
    async call(api, { words: [slug, ...words] }) {
      const pack = await api.getPack({ slug })
      const remove = words.map((word) => toPackMember(pack, word))
      const unseen = remove.filter((name) => pack.skills.every(({ fullName }) => fullName !== name))
      return { ...(await api.updatePack({ slug, remove })), unseen }
    },
    show: ({ unseen, ...pack }) => [
      `The pack ${pack.slug} now has ${toBudgetText(pack)}.`,
      ...unseen.map((name) => `You do not see ${name} in it; if it was there, it is removed.`),
    ],
  }),
  'pack delete': endpointCommand('deletePack', {
    description: 'Delete a pack. Its skills stay, and its slug cannot be used again.',
    words: { SLUG: 'slug' },
    actor,
    toResult: (_, { slug }) => ({ deleted: slug }),
    show: ({ deleted }) => [`Deleted the pack ${deleted}. Its skills are unchanged.`],
  }),
}

function toPackLines(pack: Pack): string[] {
  return [
    `${pack.slug}  ${toOneLine(pack.name)}`,
    ...(pack.description === '' ? [] : [`  ${toOneLine(pack.description)}`]),
    `  ${pack.visibility}, by ${pack.curator.username}, ${toBudgetText(pack)}`,
    ...pack.skills.map(({ fullName, pinnedVersion, latestVersion, note }) =>
      `  ${fullName}@${pinnedVersion ?? latestVersion}${pinnedVersion === null ? '' : ' (pinned)'}  ${toOneLine(note)}`.trimEnd(),
    ),
  ]
}

function toWrittenLines({ path, skills, omitted }: WrittenPlugin): string[] {
  return [
    `Wrote a plugin with ${toCount(skills.length, 'skill')} to ${toOneLine(path)}.`,
    ...skills.map(({ folder, fullName, version }) => `  skills/${folder}  ${fullName}@${version}`),
    ...toReasonLines({ omitted, changed: [] }),
  ]
}

/**
 * Resolves a short name to the full name of a skill in the pack. Throws if the pack does not contain the skill, so that
 * typos are noticed.
 */
function toPackMember({ slug, skills }: Pack, word: string): string {
  const { name } = parseSkillWord(word)
  // A full name is not looked up: the pack may have a skill that the user does not see.
  if (name.includes('/')) return name
  const found = skills.filter(({ fullName }) => toShortName(fullName) === name)
  if (found.length === 1) return found[0]!.fullName
  throw new Error(
    found.length === 0
      ? `${name} is not in the pack ${slug}; nothing was changed.`
      : `${name} could be ${found.map(({ fullName }) => fullName).join(' or ')}. Use the full name. Nothing was changed.`,
  )
}

function toBudgetText({ skillCount, budget }: Pack): string {
  const room = `${budget.listingCharacters} characters of listing`
  return `${toCount(skillCount, 'skill')}, ${room}${budget.fits ? '' : ', which is more than agents give to it'}`
}
