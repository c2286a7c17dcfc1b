import type { ScanFile } from '@skillstead/scanner'
import type { Random } from '../support/random.ts'

/** A way to disguise the text of a skill. Pure: the same files and numbers give the same result. */
export interface Cloak {
  readonly name: string
  readonly about: string
  apply(files: readonly ScanFile[], random: Random): ScanFile[]
}

/** A skill whose body is elsewhere: what SKILL.md says instead, and the files that have it. */
interface Moved {
  readonly cover: string
  readonly files: readonly ScanFile[]
}

type Make<Result> = (body: string, random: Random) => Result

/** A cloak that rewrites the body of SKILL.md. */
export function onBody(name: string, about: string, rewrite: Make<string>): Cloak {
  return {
    name,
    about,
    apply: (files, random) =>
      mapSkillMd(files, ({ head, body }) => [{ path: 'SKILL.md', text: head + rewrite(body, random) }]),
  }
}

/** A cloak that moves the body of SKILL.md into other files. */
export function intoFiles(name: string, about: string, move: Make<Moved>): Cloak {
  return {
    name,
    about,
    apply: (files, random) =>
      mapSkillMd(files, ({ head, body }) => {
        const { cover, files: moved } = move(body, random)
        return [{ path: 'SKILL.md', text: `${head}\n# Guide\n\n${cover}\n` }, ...moved]
      }),
  }
}

function mapSkillMd(
  files: readonly ScanFile[],
  change: (parts: { head: string; body: string }) => ScanFile[],
): ScanFile[] {
  return files.flatMap((file) => {
    if (file.path !== 'SKILL.md' || !('text' in file)) return [file]
    const head = /^---\r?\n[^]*?\n---\r?\n/.exec(file.text)?.[0] ?? ''
    return change({ head, body: file.text.slice(head.length) })
  })
}

/** Rewrites the words of a text, of at least so many letters. */
export function mapWords(text: string, lettersMin: number, rewrite: (word: string) => string): string {
  return text.replace(new RegExp(`[A-Za-z]{${lettersMin},}`, 'g'), rewrite)
}

/** Puts a text into the middle of a word. */
export function putInside(word: string, inside: string): string {
  const middle = word.length >> 1
  return word.slice(0, middle) + inside + word.slice(middle)
}

/** Wraps a line every 76 characters, as mail and the tool base64 do. */
export function wrap(text: string): string {
  return text.replace(/.{76}/g, '$&\n')
}
