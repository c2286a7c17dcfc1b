import type { Document } from '../text/document.ts'

export type CodeLanguage = 'python' | 'script' | 'jsx' | 'shell'

/** A piece of code in a file. */
export interface CodePart {
  readonly language: CodeLanguage
  readonly text: string
  /** The position of the code in the file. */
  readonly offset: number
}

const named = (language: CodeLanguage, names: string) => names.split(' ').map((name) => [name, language] as const)

/** The languages by the ending of a file's name. */
const endings: ReadonlyMap<string, CodeLanguage> = new Map([
  ...named('python', 'py pyw pyi'),
  ...named('script', 'js mjs cjs ts mts cts'),
  ...named('jsx', 'jsx tsx'),
  ...named('shell', 'sh bash zsh ksh command bats'),
])
/** The languages by the name after the mark of a fence. */
const fences: ReadonlyMap<string, CodeLanguage> = new Map([
  ...named('python', 'python py python3 py3 ipython'),
  ...named('script', 'javascript js mjs cjs typescript ts node'),
  ...named('jsx', 'jsx tsx'),
  ...named('shell', 'sh bash zsh shell shellscript console terminal shell-session shellsession bash-session'),
])
const languages = ['python', 'script', 'shell'] as const
const shebangPattern =
  /^#![^\n]{0,80}\b(?:(?<python>python)|(?<script>node|bun|deno|tsx|ts-node)|(?<shell>(?:ba|z|da|k|a)?sh\b))/
const infoPattern = /(?:`{3,}|~{3,})\s{0,4}\{?\.?(?<name>[\w+-]{1,20})/

/** Finds the code in a file: the whole file by its ending or first line, or the fenced blocks of Markdown. */
export function* findCode(path: string, document: Document): Generator<CodePart> {
  const { text } = document
  if (document.isMarkdown) return yield* findFenced(document)
  const language = findLanguage(path, text)
  if (language) yield { language, text, offset: 0 }
}

/** The language of a file, by its ending or the first line of its text. */
export function findLanguage(path: string, text: string): CodeLanguage | undefined {
  const ending = endings.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase())
  if (ending || !text.startsWith('#!')) return ending
  const groups = shebangPattern.exec(text)?.groups
  return languages.find((language) => groups?.[language] !== undefined)
}

/** The name after the mark of a fence, in lower case. */
export function readFenceName(document: Document, line: number): string {
  return infoPattern.exec(document.line(line, 240))?.groups!['name']!.toLowerCase() ?? ''
}

/** The language that a name after the mark of a fence means. */
export function toLanguage(name: string): CodeLanguage | undefined {
  return fences.get(name)
}

function* findFenced(document: Document): Generator<CodePart> {
  const { text } = document
  if (!text.includes('```') && !text.includes('~~~')) return
  for (let line = 1; line <= document.lineCount; line++) {
    if (document.fence(line) !== line) continue
    const opening = line
    while (line < document.lineCount && document.fence(line + 1) === opening) line++
    const language = toLanguage(readFenceName(document, opening))
    if (!language || line === opening) continue
    const offset = document.lineStart(opening + 1)
    const end = line < document.lineCount ? document.lineStart(line + 1) : text.length
    yield { language, text: text.slice(offset, end), offset }
  }
}
