import type { Encoded } from './decode.ts'

/** Programs that download, run or read, which attackers spell in unusual ways. */
const commands = [
  'curl|wget|bash|dash|zsh|python|python3|perl|ruby|node|php|ncat|netcat|eval|exec|source|base64|openssl|chmod|sudo',
  'crontab|ssh|scp|rsync|tar|cat|env|printenv|powershell|invoke-expression|npm|npx|pip|pip3|git',
].flatMap((names) => names.split('|'))
const commandPattern = new RegExp(String.raw`(?<![\w.-])(?:${commands.join('|')})(?![\w-])`, 'gi')

/** Marks inside of a word that a shell removes, in its order of reading. */
const signs: readonly (readonly [pattern: RegExp, by: string | ((...found: string[]) => string)])[] = [
  [/\$'((?:[^'\\\n]|\\.){1,80})'/g, (_, inner) => unescape(inner!)],
  [
    /\$\((?:printf|echo)(?:\s-[ne]{1,2})?\s["']?([\w./-]{1,24})["']?\)|`(?:printf|echo)\s["']?([\w./-]{1,24})["']?`/g,
    '$1$2',
  ],
  [/(?<=\w)\$(?:[@*]|\{\w{0,12}\}|\{[@*]\})(?=\w)/g, ''],
  [/\\\r?\n(?=\w)/g, ''],
  [/(?<=\w)(?:""|''|\\|\^)(?=\w)|(?<=[\s|;&(])\\(?=\w)/g, ''],
  [/(["'])(\w{1,6})\1(?=["'\w])|(?<=\w)(["'])(\w{1,6})\3/g, '$2$4'],
  [
    /\/(?:usr\/|bin\/|sbin\/|local\/|\?{2,5}\/){0,3}([\w?*[\]]{2,16})(?![\w?*[\]/])/g,
    (found, name) => toCommand(found!, name!),
  ],
]

/** Begins with the rarest characters, which is several times faster. */
const signPattern =
  /[$`](?:['({@*]|printf|echo)|(?:""|''|[\\^])(?<=\w..?)["'\w]|\\\r?\n\w|["']\w{1,6}["'](?:["'\w]|(?<=\w["']\w{1,6}["']))|\/[\w?*[]*[?*[]/g
const lineCharactersMax = 4096

/**
 * Finds lines with the name of a program that a shell reads and a reader does not: with quote marks, backslashes, empty
 * parameters or a line end inside, printed or by a pattern of file names.
 */
export function* findCommands(text: string): Generator<Encoded> {
  signPattern.lastIndex = 0
  for (let found = signPattern.exec(text); found; found = signPattern.exec(text)) {
    const { start, end } = toLines(text, found.index)
    const line = text.slice(start, end)
    const plain = signs.reduce((read, [pattern, by]) => read.replace(pattern, by as string), line)
    signPattern.lastIndex = Math.max(end, found.index + 1)
    if (plain !== line && countCommands(plain) > countCommands(line)) {
      yield { text: plain, start, end, spelled: line, form: 'shell-quotes', isHidden: true }
    }
  }
}

const countCommands = (line: string) => line.match(commandPattern)?.length ?? 0

/** The line at a position, with the lines that continue it. */
function toLines(text: string, at: number): { start: number; end: number } {
  const from = Math.max(0, at - lineCharactersMax / 2)
  const start = from + text.slice(from, at).lastIndexOf('\n') + 1
  const to = Math.min(text.length, at + lineCharactersMax / 2)
  let end = text.indexOf('\n', at)
  while (end !== -1 && end < to && /\\\r?$/.test(text.slice(end - 2, end))) end = text.indexOf('\n', end + 1)
  return { start, end: end === -1 || end > to ? to : end }
}

function unescape(text: string): string {
  return text.replace(/\\(?:x([\da-f]{1,2})|([0-7]{1,3}))/gi, (_, hex?: string, octal?: string) =>
    String.fromCharCode(hex ? Number.parseInt(hex, 16) : Number.parseInt(octal!, 8)),
  )
}

/** The only program that a pattern of file names means. */
function toCommand(found: string, pattern: string): string {
  if (!/[?*[]/.test(pattern) || /\[(?![a-z]\])/.test(pattern)) return found
  const words = new RegExp(`^${pattern.replaceAll('?', '.').replaceAll('*', '.*')}$`)
  const [command, ...others] = commands.filter((each) => words.test(each))
  return command !== undefined && others.length === 0 ? command : found
}
