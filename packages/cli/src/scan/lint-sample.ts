import { basename, resolve } from 'node:path'
import {
  type ClientReport,
  type PathReason,
  type Security,
  type SkillClient,
  type Warning,
  reportClient,
} from '@skillstead/protocol'
import { scanPackage } from '@skillstead/scanner'
import type { Sample } from '@skillstead/scanner/command'
import {
  type ParsedSkillMd,
  checkPortability,
  mergeWarnings,
  parseSkillMd,
  readSkillFields,
} from '@skillstead/skill-format'
import {
  checkPaths,
  decodeText,
  findMcpProblems,
  findSkillProblem,
  findTextProblem,
  selectFolder,
  type Unreadable,
  warnOfFiles,
} from '@skillstead/skill-format/archives'
import { readEvalCases, toProblemText } from '@skillstead/skill-format/evals'
import { warnOfTemplate } from './skill-template.ts'

/** The result of linting a skill. */
export interface Linted {
  readonly id: string
  /** Whether strict readers of the open format accept the skill. */
  readonly portable: boolean
  /** Whether a publish accepts the skill. */
  readonly publishable: boolean
  readonly warnings: readonly Warning[]
  /**
   * Entries of the skill's folder or archive that a publish omits. `changed`: entries that a publish stores with other
   * content.
   */
  readonly omitted: readonly PathReason[]
  readonly changed: readonly PathReason[]
  /** What each requested client does with the skill. */
  readonly clients: readonly ClientReport[]
  readonly security: Pick<Security, 'score' | 'verdict' | 'risk' | 'findings' | 'cut'>
}

/**
 * Checks a skill against the open format, the scan rules and the given clients; undefined if it has no SKILL.md.
 * `isWhole`: the sample is a folder with all its files.
 */
export async function lintSample(
  sample: Sample,
  { isWhole, clients = [] }: { readonly isWhole: boolean; readonly clients?: readonly SkillClient[] },
): Promise<Linted | Unreadable | undefined> {
  const { id, files, at } = sample
  const skillMd = files.find(({ path }) => path === 'SKILL.md')
  if (!skillMd || !('bytes' in skillMd)) return undefined
  const reason = findTextProblem(skillMd.bytes)
  if (reason !== undefined) return { id, reason }
  const selected = isWhole && 'folder' in at ? await selectFolder(at.folder) : undefined
  const problem = selected && findSkillProblem(selected)
  if (problem !== undefined) return { id, reason: problem }
  const { omitted = [], changed = [] } = selected ?? sample
  const text = decodeText(skillMd.bytes)
  const parsed = parseSkillMd(text)
  // Hosts expect the folder to have the name of the skill.
  const folderName = 'folder' in at ? basename(resolve(at.folder)) : undefined
  const { portable, warnings } = checkPortability(text, parsed, { folderName })
  const refused = listRefusals(parsed, files, selected)
  const { score, verdict, risk, findings, cut } = await scanPackage(files, Date.now())
  return {
    id,
    portable: portable && refused.length === 0,
    publishable: refused.length === 0,
    warnings: mergeWarnings(
      refused,
      warnings,
      warnOfTemplate(text),
      warnOfFiles(files.filter((file) => 'bytes' in file)),
      warnOfCases(files),
    ),
    omitted,
    changed,
    clients: clients.map((client) => reportClient(parsed, client, folderName)),
    security: { score, verdict, risk, findings, cut },
  }
}

/** Warnings about faulty test cases and results of runs, without line numbers, because those refer to SKILL.md. */
function warnOfCases(files: Sample['files']): Warning[] {
  const { problems } = readEvalCases(files.map((file) => ('bytes' in file ? file : { path: file.path })))
  const results = files.find(({ path }) => path.startsWith('evals/results/'))
  return [
    ...problems.map((problem) => ({ code: 'eval_case', message: toProblemText(problem) })),
    ...(results
      ? [{ code: 'eval_results', message: 'evals/results has results of runs, which a publish includes. Delete it.' }]
      : []),
  ]
}

/** What a publish would refuse, with the messages of the publish. */
function listRefusals(
  parsed: ParsedSkillMd,
  files: Sample['files'],
  selected: Awaited<ReturnType<typeof selectFolder>> | undefined,
): Warning[] {
  const others = files.filter(({ path }) => path !== 'SKILL.md')
  // Check the selected files: the sample leaves out files above the limits, and links within the skill, although a
  // publish stores the linked content as files.
  const sized = selected?.files.map(({ path, entry }) => ({ path, size: entry.size }))
  return [
    // A faulty name gets one warning, with the name to use, and no second one about the open format.
    ...readSkillFields(parsed).refusals.map(({ path, code, message, line }) => ({
      code: code ?? (path === 'name' ? 'name_pattern' : 'field_refused'),
      message,
      line,
    })),
    ...[...checkPaths(sized ?? others, selected?.skillMd.size), ...findMcpProblems(others)].map(
      ({ path, message }) => ({
        code: 'file_refused',
        message: path === '' ? message : `${path}: ${message}`,
      }),
    ),
  ]
}
