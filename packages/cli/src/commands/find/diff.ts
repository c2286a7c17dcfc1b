import { accessKinds, type Access, type SkillDiff, toOneLine, verdictWords } from '@skillstead/protocol'
import { endpointCommand } from '../../registry/endpoint-command.ts'
import { toChangeLines, toChangeText } from '../../scan/change.ts'

export const commands = {
  diff: endpointCommand('diffSkill', {
    description:
      'Show the changes between two versions as a patch for `git apply`, newly used tools, hosts and variables, and a verdict on the change.',
    words: { NAME: 'name', FROM: 'from', TO: 'to' },
    isExact: true,
    show: (found, { stdout }) => [
      ...found.files.flatMap(toPatchLines).map((line) => (stdout.isTTY ? toPatchLine(line) : line)),
      ...toAccessLines(found),
    ],
  }),
}

function toPatchLines({ path, status, diff: patch, omitted }: SkillDiff['files'][number]): string[] {
  if (patch === null) return [`# ${toOneLine(path)} is ${status} and left out of this patch: it is ${omitted}.`]
  return patch.slice(0, -1).split('\n')
}

/** Replaces control and invisible characters of untrusted text for a terminal; a patch file must stay unchanged. */
function toPatchLine(line: string): string {
  return line.replaceAll(/(?!\t)[\p{Cc}\p{Cf}]/gu, '\u{FFFD}')
}

/** The lines after the patch about what the versions use; programs that apply patches ignore them. */
function toAccessLines({ from, to, access, security, change }: SkillDiff): string[] {
  const lines = [
    ...toUsedLines('now uses', access.added),
    ...toUsedLines('no longer uses', access.removed),
    ...(security.from && security.to && security.from.verdict !== security.to.verdict
      ? [
          `# Scan verdict: ${verdictWords[security.from.verdict]} for ${from}, ${verdictWords[security.to.verdict]} for ${to}.`,
        ]
      : []),
  ]
  const ofChange = change
    ? [`# Verdict on the change: ${toChangeText(change)}.`, ...toChangeLines(change).map((line) => `# ${line}`)]
    : []
  return lines.length > 0
    ? [...lines, ...ofChange]
    : [...ofChange, `# ${to} uses the same tools, hosts and variables as ${from}, as far as its text shows.`]
}

function toUsedLines(what: string, access: Access): string[] {
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
  cut: 'unreadable content',
}
