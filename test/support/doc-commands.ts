import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** The documents for people who use the project. */
export const documents = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

/** A fenced block of a document. */
export interface Block {
  readonly line: number
  /** What stands behind the fence: a language, and `runnable` where a test runs the block. */
  readonly info: readonly string[]
  readonly text: string
}

/** The fenced blocks of a document, in order. */
export function readBlocks(document: string): Block[] {
  const text = readFileSync(join(root, document), 'utf8')
  return [...text.matchAll(/^```(.*)\n([^]*?)^```$/gm)].map(({ index, 1: info = '', 2: body = '' }) => ({
    line: text.slice(0, index).split('\n').length,
    info: info.split(' ').filter((word) => word !== ''),
    text: body,
  }))
}

/** A command of a block, and the output that the document shows for it. */
export interface Step {
  readonly command: string
  readonly output: string
}

/**
 * The steps of a transcript. Commands begin with `$ `, and all other lines are output; or, for pasting, commands stand by
 * themselves, lines of output begin with `#> `, and other comments explain.
 */
export function readSteps({ text }: Block): Step[] {
  const lines = text.trimEnd().split('\n')
  const prompt = lines.some((line) => line.startsWith('$ ')) ? '$ ' : ''
  const steps: { command: string; output: string }[] = []
  let heredoc: string | undefined
  for (const line of lines) {
    const last = steps.at(-1)
    if (last && (heredoc !== undefined || last.command.endsWith('\\'))) last.command += `\n${line}`
    else if (last && prompt === '' && line.startsWith('#> ')) last.output += `${line.slice(3)}\n`
    else if (prompt === '' && line.startsWith('#')) continue
    else if (line.startsWith(prompt)) steps.push({ command: line.slice(prompt.length), output: '' })
    else if (last) last.output += `${line}\n`
    if (heredoc === undefined) heredoc = /<<'(\w+)'$/.exec(line)?.[1]
    else if (line === heredoc) heredoc = undefined
  }
  return steps
}

const program =
  /(?:^|[|;&]\s*)(?:\w+=\S+ )*(?:sudo (?:-\S+ \S+ )*)?(?:npx (?:--yes pnpm@12 -s )?|\.{1,2}\/)?skillstead(?= |$)([^#`|<>&;]*)/

/** The words behind `skillstead` in a line of a shell; undefined where it runs something else. */
export function toWords(line: string): string[] | undefined {
  const rest = program.exec(line.replaceAll('\\\n', ' '))?.[1]
  if (rest === undefined) return undefined
  return [...rest.matchAll(/'[^']*'|"[^"]*"|\S+/g)].map(([word]) => word.replaceAll(/^['"]|['"]$/g, ''))
}

/** Whether an output is the one that a document shows: what `...` stands for, ids, times, digests and spaces may differ. */
export function isOutput(shown: string, actual: string): boolean {
  const pattern = toStable(shown)
    .split('...')
    .map((part) => part.replaceAll(/\W/g, String.raw`\$&`))
    .join('.*')
  return new RegExp(`^${pattern}$`, 's').test(toStable(actual))
}

function toStable(output: string): string {
  return output
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/[0-9a-f]{64}/g, '<digest>')
    .replaceAll(/\+[0-9a-f]{8}\b/g, '+<hash>')
    .replaceAll(/\s+/g, '')
}
