import { basename, dirname, resolve } from 'node:path'
import type { Security, Warning } from '@skillstead/protocol'
import { scanPackage } from '@skillstead/scanner'
import { checkPortability, mergeWarnings, parseSkillMd } from '@skillstead/skill-format'
import { decodeText } from '@skillstead/skill-format/archives'
import type { Sample } from './samples.ts'

/** The result of linting a skill. */
export interface Linted {
  readonly id: string
  /** Whether strict readers of the open format accept it. */
  readonly portable: boolean
  readonly warnings: readonly Warning[]
  readonly security: Pick<Security, 'score' | 'verdict' | 'risk' | 'findings' | 'cut'>
}

/** Checks a skill against the open format and the scan rules; undefined if it has no SKILL.md. */
export async function lintSample({ id, files }: Sample, place: string): Promise<Linted | undefined> {
  const skillMd = files.find(({ path }) => path === 'SKILL.md')
  if (!skillMd) return undefined
  const text = decodeText(skillMd.bytes)
  const parsed = parseSkillMd(text)
  const { portable, warnings } = checkPortability(text, parsed, { folderName: findFolder(id, place) })
  const { score, verdict, risk, findings, cut } = await scanPackage(files, Date.now())
  return { id, portable, warnings: mergeWarnings(warnings), security: { score, verdict, risk, findings, cut } }
}

/** The folder of the skill, if it has one: hosts expect it to have the name of the skill. */
function findFolder(id: string, place: string): string | undefined {
  const folder = basename(dirname(id === place ? resolve(id) : id))
  return folder === '.' || folder === '' || !/(?:^|[/\\])SKILL\.md$/i.test(id) ? undefined : folder
}
