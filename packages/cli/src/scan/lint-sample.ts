import { basename, resolve } from 'node:path'
import type { Security, Warning } from '@skillstead/protocol'
import { scanPackage } from '@skillstead/scanner'
import type { Sample } from '@skillstead/scanner/command'
import { checkPortability, mergeWarnings, parseSkillMd } from '@skillstead/skill-format'
import { decodeText } from '@skillstead/skill-format/archives'

/** The result of linting a skill. */
export interface Linted {
  readonly id: string
  /** Whether strict readers of the open format accept it. */
  readonly portable: boolean
  readonly warnings: readonly Warning[]
  readonly security: Pick<Security, 'score' | 'verdict' | 'risk' | 'findings' | 'cut'>
}

/** Checks a skill against the open format and the scan rules; undefined if it has no SKILL.md. */
export async function lintSample({ id, files, at }: Sample): Promise<Linted | undefined> {
  const skillMd = files.find(({ path }) => path === 'SKILL.md')
  if (!skillMd || !('bytes' in skillMd)) return undefined
  const text = decodeText(skillMd.bytes)
  const parsed = parseSkillMd(text)
  // Hosts expect the folder to have the name of the skill.
  const folderName = 'folder' in at ? basename(resolve(at.folder)) : undefined
  const { portable, warnings } = checkPortability(text, parsed, { folderName })
  const { score, verdict, risk, findings, cut } = await scanPackage(files, Date.now())
  return { id, portable, warnings: mergeWarnings(warnings), security: { score, verdict, risk, findings, cut } }
}
