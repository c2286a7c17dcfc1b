import type { ShellCommand } from './parse-shell.ts'

/** One level: the script itself, or a substitution in a word of the level above. */
export interface Frame {
  readonly end: ')' | '`' | undefined
  command: ShellCommand
  /** The pieces of the word so far: a text that grows by each would be copied over and over. */
  pieces: string[]
  /** Whether a word has begun, which may be empty in quotes. */
  hasWord: boolean
  quoted: boolean
  /** What the next word is, if it is none of the command. */
  skips: 'nothing' | 'target'
  groups: ('group' | 'array')[]
}

/** A level that ends with `end`; undefined for the script itself. */
export function createFrame(end: Frame['end']): Frame {
  return { end, command: { words: [] }, pieces: [], hasWord: false, quoted: false, skips: 'nothing', groups: [] }
}

/** Forgets the word so far. */
export function dropWord(frame: Frame): void {
  frame.pieces = []
  frame.hasWord = false
}

/** The word so far, where it is short enough to be a name or a mark. */
export function toShortWord({ pieces }: Frame): string {
  return pieces.length <= 3 ? pieces.join('') : ''
}
