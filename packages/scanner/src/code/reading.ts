/** The kinds of facts about code. */
export const codeFactKinds = [
  /** Reads a store of credentials; the value is its path, or the name of the store. */
  'secret-read',
  /** Reads one variable with a secret; the value is its name. */
  'variable-read',
  /** Reads all environment variables at once. */
  'environment-read',
  /** Collects the user's data: files of the home folder, clipboard, screen, keystrokes, history. */
  'data-collected',
  /** Sends data to another machine; the value is the address, as far as it is known. */
  'network-send',
  /** Receives data from another machine; the value is the address, as far as it is known. */
  'network-fetch',
  /** Decodes a text that is written in the code itself; the value names the encoding. */
  'decode',
  /** Runs a text as code of its own or another language. */
  'dynamic-run',
  /** Starts a program; the value is the command, as far as it is known. */
  'program-run',
  /** Writes to a file whose content is run at startup, login or by other programs; the value is its path. */
  'startup-write',
  /** Writes to a file that controls agents; the value is its path. */
  'agent-config-write',
  /** Installs a package; the value is its name. */
  'package-install',
  /** Changes rights, or disables a protection; the value is what is changed. */
  'privilege-change',
  /** Deletes or overwrites data that is not the skill's own; the value is its path. */
  'destruction',
  /** Connects the input and output of a shell to another machine. */
  'shell-connected',
  /** Names a function or module by a computed text; the value is its path. */
  'hidden-name',
] as const
export type CodeFactKind = (typeof codeFactKinds)[number]

/** A fact about code. `start` and `end` are offsets in the text that was read. */
export interface CodeFact {
  readonly kind: CodeFactKind
  readonly start: number
  readonly end: number
  /** The subject of the fact, for example a path, address, variable or package. U+FFFC stands for an unknown part. */
  readonly value?: string
}

/** A value that comes from the passage of one fact reaches the passage of another fact. */
export interface CodeFlow {
  readonly from: CodeFact
  readonly to: CodeFact
}

/** A text that the code computes from other texts, to be scanned like decoded text. */
export interface ComputedText {
  readonly text: string
  readonly start: number
  readonly end: number
  /** The operations that lead to the text, such as `base64` or `concatenation`, outermost first. */
  readonly decoded: readonly string[]
}

/** The result of reading a piece of code. */
export interface CodeReading {
  readonly facts: readonly CodeFact[]
  readonly flows: readonly CodeFlow[]
  readonly texts: readonly ComputedText[]
  /** Why reading ended early, as a sentence. */
  readonly cut?: string
}
