import { limits, type HeartbeatResult } from '@skillstead/protocol'
import { text, type Command } from '../command.ts'
import { toNodeAddress } from '../config.ts'
import { readFolderState } from '../install/folder-state.ts'
import { localSource, type LockedSkill } from '../install/lock.ts'
import { globalOption, toPlace, toTargetPath, type Place } from '../install/install-place.ts'
import { readPlaceLock, toSource } from '../install/session.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, withApi } from '../place.ts'

interface Heartbeat extends HeartbeatResult {
  /** How many skills were asked about. */
  readonly asked: number
  /** What the lock names and no folder holds. */
  readonly missing: readonly string[]
  /** The registries that other skills of the lock are from, which are told nothing of these and asked nothing. */
  readonly elsewhere: readonly string[]
}

/** `skillstead heartbeat`. */
export const heartbeat: Command<Heartbeat> = {
  summary:
    'Asks the registry what has changed in the installed skills: new versions, ones that were yanked, flagged or taken down, ' +
    'and folders that were altered. Exit code 1 where one was flagged or taken down.',
  words: [],
  options: {
    ...globalOption,
    platform: { value: 'ID', help: 'the platform of the agent' },
    'agent-key': { value: 'KEY', help: 'the agent, as platform:instance' },
    'agent-token': {
      value: 'TOKEN',
      help: 'proves which agent it is, so that its installs are noted (or SKILLSTEAD_AGENT_TOKEN)',
      env: 'SKILLSTEAD_AGENT_TOKEN',
    },
    ...placeOptions,
  },
  async run(given) {
    const place = toPlace(given)
    const { own, elsewhere } = selectOwn(Object.entries((await readPlaceLock(place)).skills), toSource(given))
    if (own.length > limits.heartbeatSkillsMax)
      throw new Error(`${own.length} skills are installed; a heartbeat can ask about ${limits.heartbeatSkillsMax}.`)
    const found = await Promise.all(own.map(([name, skill]) => look(place, name, skill)))
    const installedSkills = found.flatMap(({ installed }) => installed ?? [])
    const [platform, agentKey] = [text(given, 'platform'), text(given, 'agent-key')]
    const agentToken = text(given, 'agent-token')
    const result = await withApi(given, (api) => api.heartbeat({ installedSkills, platform, agentKey }), { agentToken })
    const missing = found.flatMap(({ name, installed }) => (installed ? [] : [name]))
    return { ...result, asked: installedSkills.length, missing, elsewhere }
  },
  show: toLines,
  hasFailed: ({ updates }) => updates.some(({ reason }) => reason === 'flagged' || reason === 'taken_down'),
}

/** A registry hears of the skills that it gave, and of no others: their names may be nobody else's business. */
function selectOwn(skills: [string, LockedSkill][], source: string) {
  const others = skills.map(([, skill]) => sourceOf(skill)).filter((one) => one !== source)
  return { own: skills.filter(([, skill]) => sourceOf(skill) === source), elsewhere: [...new Set(others)] }
}

function sourceOf({ source }: LockedSkill): string {
  return source === localSource ? localSource : toNodeAddress(source)
}

/** What lies in the folders of a skill: of the one that was altered, where one was. */
async function look(place: Place, name: string, { version, digest, targets }: LockedSkill) {
  const states = await Promise.all(targets.map((target) => readFolderState(toTargetPath(place, target), [digest])))
  const there = states.filter(({ kind }) => kind !== 'missing')
  if (there.length === 0) return { name }
  const digests = there.flatMap((state) => (state.kind === 'version' ? state.digest : []))
  const altered = digests.find((found) => found !== digest)
  // What could not be read has no digest; nobody can say that it is what was published.
  const isRead = digests.length === there.length
  return { name, installed: { skillName: name, version, digest: altered ?? (isRead ? digest : undefined) } }
}

function toLines({ updates, unknown, missing, elsewhere, recommendations, asked, nextHeartbeatSeconds }: Heartbeat) {
  return [
    ...updates.flatMap(({ fullName, installedVersion, reason, message, deprecationMessage }) => [
      `${toOneLine(fullName)}@${toOneLine(installedVersion)}  ${reason.replace('_', ' ')}`,
      `  ${toOneLine(message)}`,
      // Earlier nodes do not have the field.
      ...(deprecationMessage ? [`  Its author writes: ${toOneLine(deprecationMessage)}`] : []),
    ]),
    ...unknown.map((name) => `${toOneLine(name)}  unknown\n  The registry has no skill of this name that you may see.`),
    ...missing.map(
      (name) => `${name}  missing\n  It is in the lock and in no folder: \`skillstead install\` brings it back.`,
    ),
    ...elsewhere.map((source) => `Others are from ${toHint(source)}`),
    ...(recommendations.length === 0 ? [] : ['Perhaps of use:']),
    ...recommendations
      .slice(0, recommendationsShown)
      .map(({ skill, reason }) => `  ${toOneLine(skill.fullName)}  ${toOneLine(reason)}`),
    asked === 0
      ? 'No skills of this registry are installed here.'
      : `${asked} asked about, ${updates.length} to look at. Ask again in ${Math.ceil(nextHeartbeatSeconds / 60)} minutes.`,
  ]
}

const recommendationsShown = 3

function toHint(source: string): string {
  return source === localSource
    ? 'a registry on files: skillstead heartbeat --data DIR.'
    : `${source}: skillstead heartbeat --url ${source}`
}
