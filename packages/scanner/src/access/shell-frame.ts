import type { ShellCommand } from './parse-shell.ts'

/** One level: the script itself, or a substitution in a word of the level above. */
export interface Frame {
  readonly end: ')' | '`' | undefined
  command: ShellCommand
  /** The pieces of the current word: appending to one string would copy it repeatedly. */
  pieces: string[]
  /** Whether a word has begun; it may be an empty quoted one. */
  hasWord: boolean
  quoted: boolean
  /** The role of the next word, if it does not belong to the command. */
  skips: 'nothing' | 'target'
  groups: ('group' | 'array')[]
}

/** Creates a level that ends with `end`; undefined for the script itself. */
export function createFrame(end: Frame['end']): Frame {
  return { end, command: { words: [] }, pieces: [], hasWord: false, quoted: false, skips: 'nothing', groups: [] }
}

/** Discards the current word. */
export function dropWord(frame: Frame): void {
  frame.pieces = []
  frame.hasWord = false
}

/** The current word, if it is short enough for a name or an operator. */
export function toShortWord({ pieces }: Frame): string {
  return pieces.length <= 3 ? pieces.join('') : ''
}
