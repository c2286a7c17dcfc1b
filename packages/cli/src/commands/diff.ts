import { accessKinds, type Access, type SkillDiff } from '@skillstead/protocol'
import type { Command } from '../command.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, withApi } from '../place.ts'

/** `skillstead diff NAME FROM TO`. */
export const diff: Command<SkillDiff> = {
  summary: 'Shows what changed between two versions, as a patch that `git apply` takes, and what is used anew.',
  words: ['NAME', 'FROM', 'TO'],
  options: placeOptions,
  isExact: true,
  run(given) {
    const [name, from, to] = given.words as [string, string, string]
    return withApi(given, (api) => api.diffSkill({ name, from, to }))
  },
  show: (found, { stdout }) => [
    ...found.files.flatMap(toPatchLines).map((line) => (stdout.isTTY ? toShown(line) : line)),
    ...toAccessLines(found),
  ],
}

function toPatchLines({ path, status, diff: patch, omitted }: SkillDiff['files'][number]): string[] {
  if (patch === null) return [`# ${toOneLine(path)} is ${status} and not in this patch: it is ${omitted}.`]
  return patch.slice(0, -1).split('\n')
}

/** On a terminal what strangers wrote must not act as commands to it; in a file it stays as it is. */
function toShown(line: string): string {
  return line.replaceAll(/(?!\t)[\p{Cc}\p{Cf}]/gu, '\u{FFFD}')
}

/** After a patch, programs that apply it take no notice of these. */
function toAccessLines({ from, to, access, security }: SkillDiff): string[] {
  const lines = [
    ...toLines('now uses', access.added),
    ...toLines('no longer uses', access.removed),
    ...(security.from && security.to && security.from.verdict !== security.to.verdict
      ? [`# The scan said ${security.from.verdict} of ${from}, and says ${security.to.verdict} of ${to}.`]
      : []),
  ]
  return lines.length > 0 ? lines : [`# ${to} uses what ${from} does, as far as its text tells.`]
}

function toLines(what: string, access: Access): string[] {
  const kinds = [...accessKinds, 'cut'] as const
  return kinds.flatMap((kind) =>
    access[kind].length > 0 ? [`# ${what} ${labels[kind]}: ${access[kind].map(toOneLine).join(', ')}`] : [],
  )
}

const labels: Readonly<Record<keyof Access, string>> = {
  tools: 'tools',
  commands: 'commands',
  hosts: 'hosts',
  environment: 'environment variables',
  packages: 'packages',
  files: 'files',
  cut: 'what could not be read',
}
