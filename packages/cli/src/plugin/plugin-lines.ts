import { toOneLine } from '@skillstead/protocol'
import { toCount } from '../terminal/output.ts'
import { toWarningLine } from '../terminal/reason-lines.ts'
import type { PluginPack, PluginSkill } from './plugin-pack.ts'

/** The result of publishing a plugin, as far as it is shown. */
export interface PluginResult {
  readonly plugin: string
  readonly skills: readonly PluginSkill[]
  readonly pack: PluginPack
  readonly dryRun?: boolean
}

/** The lines about the skills and the pack of a plugin. */
export function toPluginLines({ plugin, skills, pack, dryRun = false }: PluginResult): string[] {
  return [
    `The plugin ${plugin} has ${toCount(skills.length, 'skill')}.${dryRun ? ' Nothing was stored.' : ''}`,
    ...skills.map((skill) => toSkillLine(skill, dryRun)),
    toPackLine(pack, dryRun),
    ...(pack.warnings ?? []).map(toWarningLine),
  ]
}

/** The line about one skill of a plugin or a folder. */
export function toSkillLine({ path, status, fullName, version, reason }: PluginSkill, dryRun: boolean): string {
  const name = fullName === undefined ? path : `${fullName}@${version}`
  const outcome = `${dryRun ? 'would be ' : ''}${status}`
  return `  ${toOneLine(`${outcome} ${name}${reason === undefined ? '' : `: ${reason}`}`)}`
}

function toPackLine({ slug, status, reason }: PluginPack, dryRun: boolean): string {
  if (status === 'refused') return toOneLine(`The pack ${slug} ${dryRun ? 'would not be' : 'was not'} made: ${reason}`)
  if (status === 'unchanged') return `The pack ${slug} is unchanged.`
  return `The pack ${slug} ${dryRun ? 'would be' : 'was'} ${status}.`
}

/** Whether a part of a plugin was not published. */
export function hasRefusals({ skills, pack }: Pick<PluginResult, 'skills' | 'pack'>): boolean {
  return pack.status === 'refused' || skills.some(({ status }) => status === 'refused')
}
