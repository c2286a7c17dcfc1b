import { existsSync, readFileSync, statSync } from 'node:fs'
import { limits, type PublishSkillInput, type RegistryApi, type Security, type Warning } from '@skillstead/protocol'
import { UsageError, flag, text, type Arguments, type Command } from '../command.ts'
import { dangerousOption, refuseDangerous } from '../dangerous.ts'
import { openFolder } from '../import/folder.ts'
import { decodeText, isUnreadable } from '../import/records.ts'
import type { Output } from '../output.ts'
import { findUrl, placeOptions, withApi } from '../place.ts'
import { toFindingsLines } from '../scan/scan-lines.ts'
import { toVerdict } from '../scan/verdict.ts'
import { toWarningLine } from './lint.ts'

interface Published {
  fullName: string
  version: string
  created: boolean
  /** Whether an administrator has to release it first. */
  quarantined: boolean
  dryRun: boolean
  portable: boolean
  warnings: Warning[]
  security: Security | null
}

type PublishAnswer = Awaited<ReturnType<RegistryApi['publishSkill']>>

type Content = Pick<PublishSkillInput, 'skillMd' | 'archive'> & {
  files?: { path: string; content: string; encoding: 'base64' }[]
  /** About what was left out of a folder. */
  warnings?: readonly Warning[]
}

/** `skillstead publish PATH`: a folder with a SKILL.md, an archive, or a SKILL.md alone. */
export const publish: Command<Published> = {
  summary: 'Publishes a skill from its folder, its zip or tar.gz, or a SKILL.md alone.',
  words: ['PATH'],
  options: {
    name: { value: 'NAME', help: 'its name, where SKILL.md does not say' },
    version: { value: 'VERSION', help: 'its version; the next patch unless it is said' },
    description: { value: 'TEXT', help: 'its description, where SKILL.md does not say' },
    visibility: { value: 'WHO', help: 'public, internal or private' },
    changelog: { value: 'TEXT', help: 'what is new' },
    'dry-run': { help: 'check everything, store nothing' },
    ...dangerousOption,
    owner: { value: 'NAME', help: 'the user to publish as, with --data' },
    ...placeOptions,
  },
  async run(given, output) {
    const { warnings: leftOut = [], ...content } = await readContent(given.words[0]!)
    const as = text(given, 'owner')
    if (findUrl(given) === undefined && as === undefined) throw new UsageError('Say whose it is: --owner NAME.')
    const fields = ['name', 'version', 'description', 'visibility', 'changelog'].map((field) => [
      field,
      text(given, field),
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
      warnings: [...leftOut, ...answer.warnings],
      security,
    }
  },
  show: ({ portable, warnings, security, ...published }) => [
    toOutcome(published),
    ...(portable
      ? published.dryRun
        ? ['It is portable.']
        : []
      : ['It is not portable: strict readers of the open format would refuse it.']),
    ...warnings.map(toWarningLine),
    ...toScan(security, published.dryRun),
  ],
}

/** Shows what the scan of a dry run found, and throws where that is dangerous. */
function refuseFound(given: Arguments, output: Output, { skill, version, created }: PublishAnswer): void {
  const { security } = version
  if (!created || security?.verdict !== 'dangerous') return
  toFindingsLines(security).forEach(output.say)
  const advice = 'Nothing was published. Remove what it found, or pass --allow-dangerous.'
  refuseDangerous(given, [`${skill.fullName}@${version.version}`], advice)
}

function toOutcome({
  fullName,
  version,
  created,
  quarantined,
  dryRun,
}: Omit<Published, 'portable' | 'warnings' | 'security'>) {
  const name = `${fullName}@${version}`
  if (quarantined && dryRun) return `It would wait as ${name} for an administrator to release it. Nothing was stored.`
  if (quarantined) return `${name} waits for an administrator to release it, because of what the scan found.`
  if (!created) return `${name} has this content already; nothing was published.`
  return dryRun ? `It would be published as ${name}. Nothing was stored.` : `Published ${name}.`
}

/** A dry run shows all that the scan found; else only what is not well is worth the lines. */
function toScan(security: Security | null, dryRun: boolean): string[] {
  if (!security) return dryRun ? ['It was not scanned.'] : []
  if (!dryRun && security.verdict === 'safe') return []
  return [`The scan says: ${toVerdict(security)}.`, ...toFindingsLines(security)]
}

async function readContent(path: string): Promise<Content> {
  if (!existsSync(path)) throw new Error(`There is nothing at ${path}.`)
  const stats = statSync(path)
  if (stats.isDirectory()) return readFolder(path)
  if (stats.size > limits.archiveBytesMax)
    throw new Error(`${path} has ${stats.size} bytes; ${limits.archiveBytesMax} are allowed.`)
  const body = new Uint8Array(readFileSync(path))
  if (/\.zip$/i.test(path)) return { archive: { contentType: 'application/zip', body } }
  if (/\.(tar\.gz|tgz)$/i.test(path)) return { archive: { contentType: 'application/gzip', body } }
  return { skillMd: decodeText(body) }
}

async function readFolder(path: string): Promise<Content> {
  for await (const item of openFolder(path).items) {
    if (isUnreadable(item)) throw new Error(`${item.id}: ${item.reason}`)
    const files = item.files.map((file) => ({
      path: file.path,
      content: Buffer.from(file.bytes).toString('base64'),
      encoding: 'base64' as const,
    }))
    return { skillMd: item.skillMd, files, warnings: item.warnings }
  }
  throw new Error(`${path} holds no SKILL.md.`)
}
