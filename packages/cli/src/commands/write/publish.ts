import { existsSync, readFileSync, statSync } from 'node:fs'
import { limits, type PathReason, type PublishSkillInput, type RegistryApi, type Security } from '@skillstead/protocol'
import { decodeText, findTextProblem, isUnreadable, openFolder, toPublishFile } from '@skillstead/skill-format/archives'
import { UsageError, command, flag, textOption, type Arguments } from '../../command/command.ts'
import { findUrl, placeOptions, withApi } from '../../registry/place.ts'
import { dangerousOption, refuseDangerous } from '../../scan/dangerous.ts'
import { toFindingsLines } from '@skillstead/scanner/report-lines'
import { toVerdictText } from '@skillstead/scanner'
import type { Output } from '../../terminal/output.ts'
import { toReasonLines } from '../../terminal/reason-lines.ts'
import { toWarningLine } from './lint.ts'

type PublishAnswer = Awaited<ReturnType<RegistryApi['publishSkill']>>

type Content = Pick<PublishSkillInput, 'skillMd' | 'archive'> & {
  files?: ReturnType<typeof toPublishFile>[]
  omitted?: readonly PathReason[]
  changed?: readonly PathReason[]
}

export const commands = {
  publish: command({
    description: 'Publish a skill from a folder, zip, tar.gz or SKILL.md.',
    words: ['PATH'],
    options: {
      name: { value: 'NAME', help: 'the name, if SKILL.md has none' },
      version: { value: 'VERSION', help: 'the version. Default: the next patch version' },
      description: { value: 'TEXT', help: 'the description, if SKILL.md has none' },
      visibility: { value: 'WHO', help: 'public, internal or private' },
      changelog: { value: 'TEXT', help: 'what changed in this version' },
      'dry-run': { help: 'check everything, store nothing' },
      ...dangerousOption,
      owner: { value: 'NAME', help: 'the user to publish as, with --data' },
      ...placeOptions,
    },
    async run(given, output) {
      const { omitted = [], changed = [], ...content } = await readPublishContent(given.words[0])
      const as = textOption(given, 'owner')
      if (findUrl(given) === undefined && as === undefined)
        throw new UsageError('The owner is missing. Pass --owner NAME.')
      const fields = ['name', 'version', 'description', 'visibility', 'changelog'].map((field) => [
        field,
        textOption(given, field),
      ])
      const metadata = Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as { name?: string }
      const dryRun = flag(given, 'dry-run')
      const input = { ...metadata, ...content }
      const answer = await withApi(
        given,
        async (api) => {
          const isAsked = !dryRun && !flag(given, 'allow-dangerous')
          if (isAsked) refuseFound(given, output, await api.publishSkill({ ...input, dryRun: true }))
          return api.publishSkill({ ...input, dryRun })
        },
        { as },
      )
      const { skill, version, created, quarantined } = answer
      const { portable, security } = version
      const { fullName } = skill
      return {
        fullName,
        version: version.version,
        created,
        quarantined: quarantined !== undefined,
        dryRun,
        portable,
        warnings: answer.warnings,
        omitted: [...omitted, ...answer.omitted],
        changed: [...changed, ...answer.changed],
        security,
      }
    },
    show: ({ portable, warnings, omitted, changed, security, ...published }) => [
      toPublishOutcome(published),
      ...(portable
        ? published.dryRun
          ? ['It is portable.']
          : []
        : ['It is not portable: strict readers of the open format would reject it.']),
      ...warnings.map(toWarningLine),
      ...toReasonLines({ omitted, changed }),
      ...toScan(security, published.dryRun),
    ],
  }),
}

/** Shows the scan findings of a dry run, and throws if the verdict is dangerous. */
function refuseFound(given: Arguments, output: Output, { skill, version, created }: PublishAnswer): void {
  const { security } = version
  if (!created || security?.verdict !== 'dangerous') return
  toFindingsLines(security).forEach(output.say)
  const advice = 'Nothing was published. Fix the findings, or pass --allow-dangerous.'
  refuseDangerous(given, [`${skill.fullName}@${version.version}`], advice)
}

interface Outcome {
  readonly fullName: string
  readonly version: string
  readonly created: boolean
  /** Whether an administrator has to release the version. */
  readonly quarantined: boolean
  readonly dryRun: boolean
}

function toPublishOutcome({ fullName, version, created, quarantined, dryRun }: Outcome): string {
  const name = `${fullName}@${version}`
  if (quarantined && dryRun)
    return `It would be quarantined as ${name}, for an administrator to release. Nothing was stored.`
  if (quarantined)
    return `${name} was quarantined because of its scan findings or of what it changes. An administrator has to release it.`
  if (!created) return `${name} already has this content; nothing was published.`
  return dryRun ? `It would be published as ${name}. Nothing was stored.` : `Published ${name}.`
}

/** A dry run shows all scan findings; a real run shows only verdicts other than safe. */
function toScan(security: Security | null, dryRun: boolean): string[] {
  if (!security) return dryRun ? ['It was not scanned.'] : []
  if (!dryRun && security.verdict === 'safe') return []
  return [`Scan verdict: ${toVerdictText(security)}.`, ...toFindingsLines(security)]
}

async function readPublishContent(path: string): Promise<Content> {
  if (!existsSync(path)) throw new Error(`${path} does not exist.`)
  const stats = statSync(path)
  if (stats.isDirectory()) return packPublishedFolder(path)
  if (stats.size > limits.archiveBytesMax)
    throw new Error(
      `${path} is too large: ${stats.size} bytes, at most ${limits.archiveBytesMax} are allowed. Remove what agents do not need.`,
    )
  const body = new Uint8Array(readFileSync(path))
  if (/\.zip$/i.test(path)) return { archive: { contentType: 'application/zip', body } }
  if (/\.(tar\.gz|tgz)$/i.test(path)) return { archive: { contentType: 'application/gzip', body } }
  const problem = findTextProblem(body)
  if (problem !== undefined) throw new Error(`${path}: ${problem}`)
  return { skillMd: decodeText(body) }
}

async function packPublishedFolder(path: string): Promise<Content> {
  for await (const item of openFolder(path).items) {
    if (isUnreadable(item)) throw new Error(`${item.id}: ${item.reason}`)
    const { skillMd, files, omitted, changed } = item
    return { skillMd, files: files.map(toPublishFile), omitted, changed }
  }
  throw new Error(`${path} contains no SKILL.md. Pass the folder of a skill.`)
}
