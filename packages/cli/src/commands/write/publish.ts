import { existsSync, readFileSync, statSync } from 'node:fs'
import {
  limits,
  type PathReason,
  type PublishSkillInput,
  type QuarantinedVersion,
  type RegistryApi,
  toRecord,
  type Visibility,
  withoutUndefined,
} from '@skillstead/protocol'
import { checkPortability, parseSkillMd } from '@skillstead/skill-format'
import {
  ArchiveError,
  decodeText,
  findTextProblem,
  openFolder,
  openPlugin,
  readArchive,
  type SkillRecord,
  toPublishFile,
} from '@skillstead/skill-format/archives'
import { UsageError, command, flag, textOption, type Arguments } from '../../command/command.ts'
import { refuseOtherArchives } from '../../files/archive-kinds.ts'
import { readSkillFolder } from '../../files/read-skill-folder.ts'
import { findUrl, placeOptions, withApi } from '../../registry/place.ts'
import { dangerousOption, refuseDangerous } from '../../scan/dangerous.ts'
import { toFindingsLines } from '@skillstead/scanner/report-lines'
import { toVerdictText } from '@skillstead/scanner'
import { hasRefusals, toPluginLines, toSkillLine } from '../../plugin/plugin-lines.ts'
import type { PluginSkill } from '../../plugin/plugin-pack.ts'
import { findWaits, publishEach, publishPlugin } from '../../plugin/publish-plugin.ts'
import { toCount, type Output } from '../../terminal/output.ts'
import { toReasonLines, toWarningLine } from '../../terminal/reason-lines.ts'

type PublishAnswer = Awaited<ReturnType<RegistryApi['publishSkill']>>

type Content = Pick<PublishSkillInput, 'skillMd' | 'archive'> & {
  /** The name of the skill's source in messages. */
  id: string
  files?: ReturnType<typeof toPublishFile>[]
  omitted?: readonly PathReason[]
  changed?: readonly PathReason[]
}

export const commands = {
  publish: command({
    description:
      'Publish a skill from a folder, zip, tar.gz or SKILL.md. A plugin (plugin.json) is published as its skills and a pack.',
    words: ['PATH'],
    options: {
      name: { value: 'NAME', help: 'the name, if SKILL.md has none' },
      version: { value: 'VERSION', help: 'the version. Default: the next patch version' },
      description: { value: 'TEXT', help: 'the description, if SKILL.md has none' },
      visibility: { value: 'WHO', help: 'public, internal or private' },
      changelog: { value: 'TEXT', help: 'what changed in this version' },
      all: { help: 'publish every skill of the folder; repeating continues' },
      'dry-run': { help: 'check everything, store nothing' },
      ...dangerousOption,
      organisation: { value: 'NAME', help: 'the organisation that owns the skill. Default: you' },
      owner: { value: 'NAME', help: 'the user to publish as, with --data or from CI' },
      ...placeOptions,
    },
    async run(given, output) {
      const [path] = given.words
      if (!existsSync(path)) throw new Error(`${path} does not exist.`)
      const as = textOption(given, 'owner')
      if (findUrl(given) === undefined && as === undefined)
        throw new UsageError('The owner is missing. Pass --owner NAME.')
      const ci = textOption(given, 'organisation') ?? as ?? null
      if (flag(given, 'all')) {
        if (!statSync(path).isDirectory())
          throw new UsageError(`${path} is not a folder. --all takes a folder of skills.`)
        refuseSingle(given, `${path} has several skills`)
        return withApi(given, (api) => publishFolder(api, given, output, path), { as, ci })
      }
      const plugin = await openPlugin(path)
      if (!plugin) {
        const content = await readPublishContent(path)
        return withApi(given, (api) => publishContent(api, given, output, content), { as, ci })
      }
      refuseSingle(given, `${path} is a plugin`)
      const options = {
        dryRun: flag(given, 'dry-run'),
        visibility: textOption<Visibility>(given, 'visibility'),
        say: output.say,
      }
      return withApi(
        given,
        (api) =>
          publishPlugin(api, plugin, {
            ...options,
            publish: (skill) => publishContent(api, given, output, toContent(skill)),
          }),
        { as, ci },
      )
    },
    show: (result) =>
      'plugin' in result ? showPlugin(result) : 'skills' in result ? showFolder(result) : showSkill(result),
    hasFailed: (result) => ('plugin' in result ? hasRefusals(result) : 'skills' in result && result.failed > 0),
  }),
}

function refuseSingle(given: Arguments, why: string): void {
  const single = ['name', 'version', 'description'].find((field) => textOption(given, field) !== undefined)
  if (single !== undefined)
    throw new UsageError(`${why}: --${single} cannot be used for all of its skills. Leave it out.`)
}

/** Publishes every skill of a folder, one request each. */
async function publishFolder(api: RegistryApi, given: Arguments, output: Output, folder: string) {
  const skills: (PluginSkill & { readonly published?: Result })[] = []
  const publish = (skill: SkillRecord) => publishContent(api, given, output, toContent(skill))
  for await (const skill of publishEach(openFolder(folder).items, { publish, say: output.say })) {
    skills.push(skill)
    output.say(`${skills.length}: ${toSkillLine(skill, flag(given, 'dry-run')).trim()}`)
  }
  if (skills.length === 0) throw new Error(`${folder} contains no SKILL.md. Pass a folder of skills.`)
  const countOf = (counted: PluginSkill['status']) => skills.filter(({ status }) => status === counted).length
  return { skills, failed: countOf('refused'), waiting: countOf('quarantined'), dryRun: flag(given, 'dry-run') }
}

function showFolder({ skills, failed, waiting, dryRun }: Awaited<ReturnType<typeof publishFolder>>): string[] {
  const [publishes, waits] = dryRun ? ['would be published', 'would wait'] : ['published', 'waiting']
  const published = `${skills.length - failed - waiting} of ${toCount(skills.length, 'skill')} ${publishes}`
  const decisions = waiting === 0 ? '' : `, ${waiting} ${waits} for a decision`
  return [...skills.map((skill) => toSkillLine(skill, dryRun)), `${published}${decisions}.`]
}

/** Publishes one skill. Throws if the scanner rates it dangerous and the caller did not accept that. */
async function publishContent(api: RegistryApi, given: Arguments, output: Output, packed: Content) {
  const { id, omitted = [], changed = [], ...content } = packed
  const metadata = withoutUndefined({
    ...toRecord(['name', 'version', 'description'], (field) => textOption(given, field)),
    visibility: textOption<Visibility>(given, 'visibility'),
    changelog: textOption(given, 'changelog'),
    owner: textOption(given, 'organisation'),
  })
  const dryRun = flag(given, 'dry-run')
  const input = { ...metadata, ...content }
  if (!dryRun) {
    if (flag(given, 'allow-dangerous')) {
      if (!(await isPortable(content))) output.say(`${id}: ${notPortable}`)
    } else refuseFound(given, output, await api.publishSkill({ ...input, dryRun: true }))
  }
  const answer = await api.publishSkill({ ...input, dryRun })
  const { skill, version, created } = answer
  const [wait] = findWaits(answer.warnings)
  const quarantineReason = answer.quarantined?.reason ?? (wait && (wait.code === 'approval' ? 'approval' : 'policy'))
  const { portable, security } = version
  const { fullName, visibility } = skill
  return {
    fullName,
    visibility,
    version: version.version,
    created,
    quarantined: quarantineReason !== undefined,
    ...(quarantineReason && { quarantineReason }),
    dryRun,
    portable,
    warnings: answer.warnings,
    omitted: [...omitted, ...answer.omitted],
    changed: [...changed, ...answer.changed],
    security,
  }
}

type Result = Awaited<ReturnType<typeof publishContent>>

function showSkill(result: Result): string[] {
  return [toPublishOutcome(result), ...toDetails(result), ...toReasonLines(result), ...toScan(result)]
}

function showPlugin(result: Awaited<ReturnType<typeof publishPlugin<Result>>>): string[] {
  const details = result.skills.flatMap(({ published }) => {
    const lines = published ? [...toDetails(published), ...toScan(published)] : []
    return lines.length > 0 ? [`${published!.fullName}:`, ...lines] : []
  })
  return [...toPluginLines(result), ...details, ...toReasonLines(result)]
}

function toDetails({ portable, dryRun, warnings }: Result): string[] {
  return [...(dryRun ? [portable ? 'It is portable.' : notPortable] : []), ...warnings.map(toWarningLine)]
}

const notPortable = 'Warning: it is not portable: strict readers of the open format would reject it.'

/**
 * Whether the registry would find the content portable. True for content that cannot be read, which the registry
 * refuses.
 */
async function isPortable({ skillMd, archive }: Omit<Content, 'id'>): Promise<boolean> {
  try {
    const text = skillMd ?? (archive && (await readArchivedDocument(archive)))
    return text === undefined || checkPortability(text, parseSkillMd(text)).portable
  } catch (error) {
    if (error instanceof ArchiveError) return true
    throw error
  }
}

async function readArchivedDocument({ body, contentType }: NonNullable<Content['archive']>): Promise<string> {
  const { skillMd } = await readArchive(body, contentType === 'application/zip' ? 'zip' : 'tar.gz')
  return decodeText(skillMd)
}

/**
 * Checks the answer of the dry run before a publish. Reports a version that is not portable, while its author can still
 * correct it. Shows the findings of a dangerous version, and throws unless the user accepts the version.
 */
function refuseFound(given: Arguments, output: Output, { skill, version, created }: PublishAnswer): void {
  const name = `${skill.fullName}@${version.version}`
  if (created && !version.portable) output.say(`${name}: ${notPortable}`)
  const { security } = version
  if (!created || security?.verdict !== 'dangerous') return
  toFindingsLines(security).forEach(output.say)
  refuseDangerous(given, [name], 'Nothing was published. Fix the findings, or pass --allow-dangerous.')
}

interface Outcome {
  readonly fullName: string
  readonly version: string
  readonly created: boolean
  /** Set if an administrator or reviewers have to decide first. */
  readonly quarantined: boolean
  readonly quarantineReason?: QuarantinedVersion['reason']
  readonly dryRun: boolean
}

function toPublishOutcome({ fullName, version, created, quarantined, quarantineReason, dryRun }: Outcome): string {
  const name = `${fullName}@${version}`
  if (quarantined && dryRun) {
    const decider = quarantineReason === 'approval' ? 'its reviewers to approve' : 'an administrator to release'
    return `It would be quarantined as ${name}, for ${decider}. Nothing was stored.`
  }
  if (quarantineReason === 'approval') return `${name} waits for the approval of its reviewers.`
  if (quarantined)
    return `${name} was quarantined because of its scan findings or of what it changes. An administrator has to release it.`
  if (!created) return `${name} already has this content; nothing was published.`
  return dryRun ? `It would be published as ${name}. Nothing was stored.` : `Published ${name}.`
}

/** A dry run shows all scan findings; a real run shows only verdicts other than safe. */
function toScan({ security, dryRun }: Result): string[] {
  if (!security) return dryRun ? ['It was not scanned.'] : []
  if (!dryRun && security.verdict === 'safe') return []
  return [`Scan verdict: ${toVerdictText(security)}.`, ...toFindingsLines(security)]
}

const severalAdvice = 'Publish one of them, or pass this folder to `skillstead import`.'

async function readPublishContent(path: string): Promise<Content> {
  const stats = statSync(path)
  if (stats.isDirectory()) return toContent(await readSkillFolder(path, severalAdvice))
  refuseOtherArchives(path, ['.zip', '.tar.gz', '.tgz'])
  if (stats.size > limits.archiveBytesMax)
    throw new Error(
      `${path} is too large: ${stats.size} bytes, at most ${limits.archiveBytesMax} are allowed. Remove what agents do not need.`,
    )
  const body = new Uint8Array(readFileSync(path))
  if (/\.zip$/i.test(path)) return { id: path, archive: { contentType: 'application/zip', body } }
  if (/\.(tar\.gz|tgz)$/i.test(path)) return { id: path, archive: { contentType: 'application/gzip', body } }
  const problem = findTextProblem(body)
  if (problem !== undefined) throw new Error(`${path}: ${problem}`)
  return { id: path, skillMd: decodeText(body) }
}

function toContent({ id, skillMd, files, omitted, changed }: SkillRecord): Content {
  return { id, skillMd, files: files.map(toPublishFile), omitted, changed }
}
