import { limits, type HeartbeatResult, toOneLine } from '@skillstead/protocol'
import { command, textOption } from '../../command/command.ts'
import { cacheFolder, toNodeAddress } from '../../files/config.ts'
import { openCache } from '../../install/cache.ts'
import { readFolderState } from '../../install/folder-state.ts'
import { globalOption, toInstallPlace, toTargetPath, type Place } from '../../install/install-place.ts'
import { localSource, type LockedSkill } from '../../install/lock.ts'
import { openRecalls } from '../../install/recalls.ts'
import { toRecalled, toReportedRecalls } from '../../install/update-items.ts'
import { readPlaceLock, toLockSource } from '../../install/session.ts'
import { placeOptions, withApi } from '../../registry/place.ts'

interface Heartbeat extends HeartbeatResult {
  /** Number of skills in the request. */
  readonly asked: number
  /** Skills of the lock that are in no folder. */
  readonly missing: readonly string[]
  /** The registries that other skills in the lock came from. This command sends them no request. */
  readonly elsewhere: readonly string[]
}

export const commands = {
  heartbeat: command({
    description:
      'Ask the registry about the installed skills: new versions, recalled, yanked, flagged or taken down versions, ' +
      'and altered folders. Exit code 1 when a skill was recalled, flagged or taken down.',
    options: {
      ...globalOption,
      platform: { value: 'ID', help: 'the program that runs the agent, such as claude-code' },
      'agent-key': { value: 'KEY', help: 'the agent, as platform:instance' },
      'agent-token': {
        value: 'TOKEN',
        help: 'the token that identifies the agent, to record its installs (or SKILLSTEAD_AGENT_TOKEN)',
        env: 'SKILLSTEAD_AGENT_TOKEN',
      },
      ...placeOptions,
    },
    async run(given) {
      const place = toInstallPlace(given)
      const { own, elsewhere } = selectFromSource(
        Object.entries((await readPlaceLock(place)).skills),
        toLockSource(given),
      )
      if (own.length > limits.heartbeatSkillsMax)
        throw new Error(
          `${own.length} skills are installed; one heartbeat can ask about at most ${limits.heartbeatSkillsMax}. Remove those that you do not need.`,
        )
      const found = await Promise.all(own.map(([name, skill]) => readInstalledSkill(place, name, skill)))
      const installedSkills = found.flatMap(({ installed }) => installed ?? [])
      const [platform, agentKey] = [textOption(given, 'platform'), textOption(given, 'agent-key')]
      const agentToken = textOption(given, 'agent-token')
      const result = await withApi(given, (api) => api.heartbeat({ installedSkills, platform, agentKey }), {
        agentToken,
      })
      const asked = own.filter((_, i) => found[i]?.installed)
      openRecalls(cacheFolder(place.env)).note(toReportedRecalls(asked, result))
      const missing = found.flatMap(({ name, installed }) => (installed ? [] : [name]))
      return { ...result, asked: installedSkills.length, missing, elsewhere }
    },
    show: toHeartbeatLines,
    hasFailed: ({ updates }) => updates.some(({ reason }) => graveReasons.has(reason)),
  }),
}

const graveReasons: ReadonlySet<string> = new Set(['recalled', 'flagged', 'taken_down'])

/** The skills from `source`, and the other sources: a registry gets no names of other skills, which may be private. */
function selectFromSource(skills: [string, LockedSkill][], source: string) {
  const others = skills.map(([, skill]) => sourceOf(skill)).filter((one) => one !== source)
  return { own: skills.filter(([, skill]) => sourceOf(skill) === source), elsewhere: [...new Set(others)] }
}

function sourceOf({ source }: LockedSkill): string {
  return source === localSource ? localSource : toNodeAddress(source)
}

/** Reads the folders of an installed skill. The digest is that of an altered folder, if there is one. */
async function readInstalledSkill(place: Place, name: string, { version, digest, targets }: LockedSkill) {
  const cache = openCache(cacheFolder(place.env))
  const states = await Promise.all(
    targets.map((target) => readFolderState(toTargetPath(place, target), [digest], cache)),
  )
  const there = states.filter(({ kind }) => kind !== 'missing')
  if (there.length === 0) return { name }
  const digests = there.flatMap((state) => (state.kind === 'version' ? state.digest : []))
  const altered = digests.find((found) => found !== digest)
  // A folder that could not be read has no digest, so it cannot be compared with the published content.
  const isRead = digests.length === there.length
  return { name, installed: { skillName: name, version, digest: altered ?? (isRead ? digest : undefined) } }
}

function toHeartbeatLines({
  updates,
  unknown,
  missing,
  elsewhere,
  recommendations,
  asked,
  nextHeartbeatSeconds,
}: Heartbeat) {
  return [
    ...updates.flatMap((update) => {
      const { fullName, installedVersion, reason, message, deprecationMessage } = update
      const recalled = toRecalled(update)
      return [
        `${toOneLine(fullName)}@${toOneLine(installedVersion)}  ${reason.replace('_', ' ')}`,
        `  ${toOneLine(message)}`,
        ...(recalled ? [toOneLine(`  Recalled (${recalled.range}): ${recalled.reason}`)] : []),
        // Older nodes do not send `deprecationMessage`.
        ...(deprecationMessage ? [`  Author's message: ${toOneLine(deprecationMessage)}`] : []),
      ]
    }),
    ...unknown.map((name) => `${toOneLine(name)}  unknown\n  The registry has no skill of this name that you can see.`),
    ...missing.map((name) => `${name}  missing\n  It is in the lock but not installed: run \`skillstead install\`.`),
    ...elsewhere.map((source) => `Other skills are from ${toHint(source)}`),
    ...(recommendations.length === 0 ? [] : ['Recommended:']),
    ...recommendations
      .slice(0, recommendationsShown)
      .map(({ skill, reason }) => `  ${toOneLine(skill.fullName)}  ${toOneLine(reason)}`),
    asked === 0
      ? 'No skills from this registry are installed here.'
      : `${asked} skills checked, ${updates.length} with news. Ask again in ${Math.ceil(nextHeartbeatSeconds / 60)} minutes.`,
  ]
}

const recommendationsShown = 3

function toHint(source: string): string {
  return source === localSource
    ? 'a registry on files: skillstead heartbeat --data DIR.'
    : `${source}: skillstead heartbeat --url ${source}`
}
