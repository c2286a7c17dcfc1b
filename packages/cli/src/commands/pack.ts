import type { Pack, RegistryApi, Visibility } from '@skillstead/protocol'
import { choice, text, type Arguments, type Command, type Option } from '../command.ts'
import { toShortName } from '../install/lock.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, requireUser, userOption, withApi } from '../place.ts'
import { parseSkillWord } from '../skill-ref.ts'

const own: Record<string, Option> = { ...userOption, ...placeOptions }
const visibilities = ['public', 'internal', 'private'] as const

/** `skillstead pack list [QUERY]`. */
export const listPacks: Command<{ packs: Pack[]; total: number }> = {
  summary: 'List packs of skills.',
  words: ['[QUERY]'],
  options: { page: { value: 'N', help: 'the page, of 100 rows each. Default: 1' }, ...placeOptions },
  run: (given) =>
    withApi(given, (api) => api.listPacks({ q: given.words[0] ?? '', limit: 100, page: text(given, 'page') })),
  show: ({ packs, total }) => [
    ...packs.flatMap(({ slug, name, curator, skillCount }) => [
      `${slug}  ${count(skillCount, 'skill')}, by ${curator.username}`,
      `  ${toOneLine(name)}`,
    ]),
    `${packs.length} of ${total}.`,
  ],
}

/** `skillstead pack show SLUG`. */
export const showPack: Command<Pack> = {
  summary: "Show a pack with its skills, and the size of their listing in an agent's context.",
  words: ['SLUG'],
  options: placeOptions,
  run: (given) => withApi(given, (api) => api.getPack({ slug: given.words[0]! })),
  show: (pack) => [
    `${pack.slug}  ${toOneLine(pack.name)}`,
    ...(pack.description === '' ? [] : [`  ${toOneLine(pack.description)}`]),
    `  ${pack.visibility}, by ${pack.curator.username}, ${toBudget(pack)}`,
    ...pack.skills.map(({ fullName, pinnedVersion, latestVersion, note }) =>
      `  ${fullName}@${pinnedVersion ?? latestVersion}${pinnedVersion === null ? '' : ' (pinned)'}  ${toOneLine(note)}`.trimEnd(),
    ),
  ],
}

/** `skillstead pack create SLUG [NAME...]`. */
export const createPack: Command<Pack> = {
  summary: 'Create a pack. NAME is a skill; NAME@VERSION pins its version.',
  words: ['SLUG', '[NAME...]'],
  options: {
    name: { value: 'TEXT', help: 'the display name. Default: the slug' },
    description: { value: 'TEXT', help: 'what the pack is for' },
    visibility: { value: 'WHO', help: 'public, internal or private' },
    ...own,
  },
  async run(given) {
    const [slug, ...words] = given.words as [string, ...string[]]
    const visibility: Visibility | undefined = choice(text(given, 'visibility'), visibilities, 'visibility')
    const input = { slug, name: text(given, 'name') ?? slug, description: text(given, 'description') ?? '', visibility }
    return withApi(given, (api) => api.createPack({ ...input, skills: words.map(parseSkillWord) }), asCurator(given))
  },
  show: (pack) => [`Created the pack ${pack.slug}: ${toBudget(pack)}.`],
}

/** `skillstead pack add SLUG NAME...`. */
export const addToPack: Command<Pack> = {
  summary: 'Add skills to the end of a pack. NAME@VERSION pins a version, also of a skill that is already in the pack.',
  words: ['SLUG', 'NAME...'],
  options: { note: { value: 'TEXT', help: 'why these skills are in the pack' }, ...own },
  run: (given) =>
    changeSkills(given, async (api, pack, words) => {
      const members = pack.skills.map(toMember)
      for (const word of words) {
        const { name, version } = parseSkillWord(word)
        const { fullName } = await api.getSkill({ name })
        const at = members.findIndex((member) => member.name === fullName)
        const note = text(given, 'note') ?? members[at]?.note ?? ''
        const member = { name: fullName, version: version ?? members[at]?.version, note }
        members.splice(at < 0 ? members.length : at, at < 0 ? 0 : 1, member)
      }
      return members
    }),
  show: (pack) => [`The pack ${pack.slug} now has ${toBudget(pack)}.`],
}

/** `skillstead pack remove SLUG NAME...`. */
export const removeFromPack: Command<Pack> = {
  summary: 'Remove skills from a pack.',
  words: ['SLUG', 'NAME...'],
  options: own,
  run: (given) =>
    changeSkills(given, (_api, pack, words) => {
      const gone = new Set(words.map((word) => toFullName(pack, word)))
      return pack.skills.filter(({ fullName }) => !gone.has(fullName)).map(toMember)
    }),
  show: (pack) => [`The pack ${pack.slug} now has ${toBudget(pack)}.`],
}

/** `skillstead pack delete SLUG`. */
export const deletePack: Command<{ deleted: string }> = {
  summary: 'Delete a pack. Its skills stay, and its slug cannot be used again.',
  words: ['SLUG'],
  options: own,
  async run(given) {
    const [slug] = given.words as [string]
    await withApi(given, (api) => api.deletePack({ slug }), asCurator(given))
    return { deleted: slug }
  },
  show: ({ deleted }) => [`Deleted the pack ${deleted}. Its skills are unchanged.`],
}

interface Member {
  name: string
  version?: string
  note: string
}

async function changeSkills(
  given: Arguments,
  change: (api: RegistryApi, pack: Pack, words: string[]) => Member[] | Promise<Member[]>,
): Promise<Pack> {
  const [slug, ...words] = given.words as [string, ...string[]]
  return withApi(
    given,
    async (api) => {
      const skills = await change(api, await api.getPack({ slug }), words)
      return api.updatePack({ slug, skills })
    },
    asCurator(given),
  )
}

function asCurator(given: Arguments) {
  return { as: requireUser(given, 'The owner of the pack is missing. Pass --user NAME.') }
}

function toMember({ fullName, pinnedVersion, note }: Pack['skills'][number]): Member {
  return { name: fullName, version: pinnedVersion ?? undefined, note }
}

/**
 * Resolves a name to the full name of a skill in the pack. Throws if it is not in the pack, so that typos are noticed.
 */
function toFullName({ slug, skills }: Pack, word: string): string {
  const { name } = parseSkillWord(word)
  const found = skills.filter(({ fullName }) => (name.includes('/') ? fullName : toShortName(fullName)) === name)
  if (found.length === 1) return found[0]!.fullName
  throw new Error(
    found.length === 0
      ? `${name} is not in the pack ${slug}; nothing was changed.`
      : `${name} could be ${found.map(({ fullName }) => fullName).join(' or ')}. Use the full name. Nothing was changed.`,
  )
}

function toBudget({ skillCount, budget }: Pack): string {
  const room = `${budget.listingCharacters} characters of listing`
  return `${count(skillCount, 'skill')}, ${room}${budget.fits ? '' : ', which is more than agents give to it'}`
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}
