import { limits, type RegistryApi, toOneLine, toShortName } from '@skillstead/protocol'
import { parseSkillMd, readSkillFields } from '@skillstead/skill-format'
import { decodeText } from '@skillstead/skill-format/archives'
import { planListing } from '@skillstead/skill-format/loading'
import { command, type Arguments } from '../../command/command.ts'
import { parseSkillWord, wholeNumberOption } from '../../command/values.ts'
import { readFolderState } from '../../install/folder-state.ts'
import { globalOption, toInstallPlace, toTargetPath, type Place } from '../../install/install-place.ts'
import { readPlaceLock } from '../../install/session.ts'
import { placeOptions, withApi } from '../../registry/place.ts'
import type { Output } from '../../terminal/output.ts'

type ListingPlan = ReturnType<typeof planListing>
type ListedSkill = Parameters<typeof planListing>[0][number]

export const commands = {
  plan: command({
    description:
      'Show which skills fit the size limit of an agent’s skill list, which descriptions to shorten, and what to ' +
      'leave out. NAME is a skill or pack:SLUG, most important first. Default: the installed skills, which needs no ' +
      'registry. Exit code 1 when a skill has to be left out.',
    words: ['[NAME...]'],
    options: {
      budget: { value: 'N', help: `the size limit in characters. Default: ${limits.listingCharactersMax}` },
      ...globalOption,
      ...placeOptions,
    },
    async run(given, output) {
      const advice = 'Use a number of characters, such as 8000.'
      const budget =
        wholeNumberOption(given, 'budget', 'size limit', [0, 999_999_999], advice) ?? limits.listingCharactersMax
      const skills =
        given.words.length === 0
          ? await readInstalledSkills(given, output)
          : await withApi(given, (api) => findListedSkills(api, given.words))
      if (skills.length === 0) throw new Error('No skills are installed here. Name skills: skillstead plan NAME...')
      return planListing(skills, budget)
    },
    show: toPlanLines,
    hasFailed: ({ drop }) => drop.length > 0,
  }),
}

async function findListedSkills(api: RegistryApi, words: readonly string[]): Promise<ListedSkill[]> {
  const found = new Map<string, ListedSkill>()
  for (const word of words) {
    const skills = word.startsWith('pack:')
      ? (await api.getPack({ slug: word.slice('pack:'.length) })).skills
      : [(await api.loadSkill({ ...parseSkillWord(word), level: 'metadata' })).metadata]
    // A skill that is named twice counts at its first position.
    for (const skill of skills) if (!found.has(skill.fullName)) found.set(skill.fullName, skill)
  }
  return [...found.values()]
}

/** Reads the installed skills from their folders, as an agent host would list them. */
async function readInstalledSkills(given: Arguments, output: Output): Promise<ListedSkill[]> {
  const place = toInstallPlace(given)
  const { skills } = await readPlaceLock(place)
  const listed: ListedSkill[] = []
  for (const [fullName, { targets }] of Object.entries(skills)) {
    const skill = await readInstalledListing(place, fullName, targets)
    if (skill) listed.push(skill)
    else output.say(`${fullName} is left out of the plan: it is in the lock, but no folder of it can be read.`)
  }
  return listed
}

async function readInstalledListing(place: Place, fullName: string, targets: readonly string[]) {
  for (const target of targets) {
    const state = await readFolderState(toTargetPath(place, target), [])
    const skillMd = state.kind === 'version' ? state.files.find(({ path }) => path === 'SKILL.md') : undefined
    if (!skillMd) continue
    const { description = '' } = readSkillFields(parseSkillMd(decodeText(skillMd.bytes)))
    return { name: toShortName(fullName), fullName, description }
  }
  return undefined
}

function toPlanLines({ budget, cost, plannedCost, keep, shorten, drop }: ListingPlan): string[] {
  const rows = [
    ...keep.map(({ index, name, cost: size }) => ({ index, lines: [`  keep     ${name}  ${size}`] })),
    ...shorten.map(({ index, name, from, to, description }) => ({
      index,
      lines: [`  shorten  ${name}  ${from}, as follows ${to}`, `           ${toOneLine(description)}`],
    })),
    ...drop.map(({ index, name, cost: size, reason }) => ({
      index,
      lines: [`  drop     ${name}  ${size}`, `           ${reason}`],
    })),
  ]
  const planned = plannedCost === cost ? '' : `, and ${plannedCost} after the plan`
  return [
    `The listing takes ${cost} of ${budget} characters${planned}.`,
    ...rows.toSorted((a, b) => a.index - b.index).flatMap(({ lines }) => lines),
  ]
}
