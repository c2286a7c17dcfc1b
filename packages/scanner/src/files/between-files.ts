/** A file and its first text. */
interface NamedText {
  readonly path: string
  readonly text: string
}

const nameWordsMin = 4
const nameCharactersMin = 20

/**
 * More texts that the files of a skill contain, each with the file of its findings: the words of file names, and
 * sentences that begin in one file and end in the next.
 */
export function* readBetween<T extends NamedText>(files: readonly T[]): Generator<{ text: string; file: T }> {
  for (const file of files) {
    // The names in an archive are among its words.
    const text = file.path.includes('!/') ? undefined : toNameText(file.path)
    if (text !== undefined) yield { text, file }
  }
  yield* joinUnfinished(files)
}

/** Fewer files with such names are titles, not a text in names. */
const sentenceNamesMin = 4
const sentenceWordsMin = 6

/** The paths of files whose names are long sentences, if they are so many that the skill may consist of them. */
export function findSentenceNames(paths: readonly string[]): readonly string[] {
  const named = paths.filter((path) => (toNameText(path)?.split(' ').length ?? 0) >= sentenceWordsMin)
  return named.length < sentenceNamesMin ? [] : named
}

/** The words of a file name; undefined for names that are not sentences. */
function toNameText(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.\w{1,8}$/, '')
  if (name.length < nameCharactersMin) return undefined
  const words = name.includes(' ') ? name : name.replace(/[-_+.]+/g, ' ')
  return words.split(' ').length < nameWordsMin ? undefined : words
}

/** Maximum length of the parts of a sentence in two files, and number of such sentences. */
const partCharactersMax = 400
const jointsMax = 500

/**
 * Joins the last, unfinished sentence or command of each file with the beginning of the next file of the same kind and
 * folder, in the order of their names.
 */
function* joinUnfinished<T extends NamedText>(files: readonly T[]): Generator<{ text: string; file: T }> {
  const texts = files.filter(({ text, path }) => text !== '' && !path.includes('!/'))
  if (texts.length < 2) return
  let joints = 0
  for (const together of Map.groupBy(texts, ({ path }) => toKind(path)).values()) {
    const sorted = together.toSorted((a, b) => (a.path < b.path ? -1 : 1))
    for (const [index, file] of sorted.entries()) {
      const next = sorted[index + 1]
      const tail = next && toTail(file.text)
      if (!tail) continue
      const head = toHead(next.text)
      if (head && ++joints <= jointsMax) yield { text: `${tail} ${head}`, file: next }
    }
  }
}

/** The folder and extension of a file. */
function toKind(path: string): string {
  return path.replace(/[^/]*?(?=\.\w{1,8}$|$)/, '')
}

/** The last line of a text, unless it ends like a sentence or a statement. */
function toTail(text: string): string | undefined {
  const end = text.slice(-partCharactersMax).trimEnd()
  return /[\p{L}\d,|&\\'"/-]$/u.test(end) ? end.slice(end.lastIndexOf('\n') + 1) : undefined
}

/** The first line of a text, unless it begins a document. */
function toHead(text: string): string | undefined {
  const [line = ''] = text.slice(0, partCharactersMax).trimStart().split('\n')
  return /^(?:[#<{[]|---|import\b|from\b|"use )/.test(line) ? undefined : line
}
