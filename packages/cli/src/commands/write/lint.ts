import { existsSync, statSync } from 'node:fs'
import { skillClients, toOneLine, type PathReason } from '@skillstead/protocol'
import { openSamples } from '@skillstead/scanner/command'
import { toFindingsLines } from '@skillstead/scanner/report-lines'
import { ArchiveError, isUnreadable, openPlugin } from '@skillstead/skill-format/archives'
import { isUrl } from './scan.ts'
import { UsageError, command, textOption } from '../../command/command.ts'
import { choice, choicesOption } from '../../command/values.ts'
import { lintSample, type Linted } from '../../scan/lint-sample.ts'
import { templateCode } from '../../scan/skill-template.ts'
import { toReasonLines, toWarningLine } from '../../terminal/reason-lines.ts'
import { toVerdictText } from '@skillstead/scanner'

const clientIds = skillClients.map(({ id }) => id)
const failingVerdicts = ['caution', 'dangerous'] as const

export const commands = {
  lint: command({
    description:
      'Check whether skills are portable and safe, before you publish them: a folder, a zip or tar.gz, a SKILL.md, or - for ' +
      'standard input. Needs no registry. Exit code 1 when a skill is not portable, dangerous, or text of `init` that was not filled in; with --client, when a ' +
      'client skips it or a publish refuses it, instead of not portable.',
    words: ['PATH'],
    options: {
      client: { value: 'NAMES', help: `what these clients do with the skill, with commas: ${clientIds.join(', ')}` },
      'fail-on': { value: 'VERDICT', help: 'exit with 1 for this scan verdict or a worse one: caution or dangerous' },
    },
    async run(given) {
      const [place] = given.words
      if (isUrl(place)) throw new UsageError(`lint checks local files only. For a URL use: skillstead scan ${place}`)
      const failOn = choice(textOption(given, 'fail-on'), failingVerdicts, 'verdict') ?? 'dangerous'
      const ids = choicesOption(given, 'client', clientIds, 'a known client') ?? []
      const clients = skillClients.filter(({ id }) => ids.includes(id))
      const isWhole = statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false
      const skills: Linted[] = []
      const { unreadable, omitted } = await checkPlugin(place)
      for await (const sample of openSamples(place, { stdin: given.io.stdin, onNote: () => undefined })) {
        const linted = isUnreadable(sample) ? sample : await lintSample(sample, { isWhole, clients })
        if (!linted) unreadable.push({ id: sample.id, reason: 'It is not a SKILL.md.' })
        else if (isUnreadable(linted)) unreadable.push(linted)
        else skills.push(linted)
      }
      if (skills.length + unreadable.length === 0) throw new Error(`${place} contains no SKILL.md.`)
      const ok = unreadable.length === 0 && skills.every((skill) => isFine(skill, failOn))
      return { ok, skills, unreadable, omitted }
    },
    show: ({ skills, unreadable, omitted }) => [
      ...skills.flatMap(toLintLines),
      ...toReasonLines({ omitted, changed: [] }),
      ...unreadable.map(({ id, reason }) => `${toOneLine(id)}: cannot be read: ${toOneLine(reason)}`),
    ],
    hasFailed: ({ ok }) => !ok,
  }),
}

interface PluginReport {
  readonly unreadable: { id: string; reason: string }[]
  readonly omitted: readonly PathReason[]
}

/** What is wrong with the manifest of a plugin, and what belongs to none of its skills. */
async function checkPlugin(place: string): Promise<PluginReport> {
  try {
    const plugin = existsSync(place) ? await openPlugin(place) : undefined
    return { unreadable: [], omitted: plugin?.omitted ?? [] }
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error
    return { unreadable: error.problems.map(({ path, message }) => ({ id: path, reason: message })), omitted: [] }
  }
}

function isFine(
  { portable, publishable, warnings, clients, security }: Linted,
  failOn: (typeof failingVerdicts)[number],
): boolean {
  const isLoaded = clients.length > 0 ? publishable && clients.every(({ loads }) => loads) : portable
  const isFilledIn = warnings.every(({ code }) => code !== templateCode)
  return isLoaded && isFilledIn && security.verdict !== 'dangerous' && security.verdict !== failOn
}

function toLintLines({ id, portable, warnings, omitted, changed, clients, security }: Linted): string[] {
  return [
    `${toOneLine(id)}: ${portable ? 'portable' : 'not portable'}; ${toVerdictText(security)}`,
    ...warnings.map(toWarningLine),
    ...toReasonLines({ omitted, changed }),
    ...clients.map(
      ({ client, loads, notes }) => `  ${client}: ${toOneLine([...(loads ? ['loads it'] : []), ...notes].join('; '))}`,
    ),
    ...toFindingsLines(security),
  ]
}
