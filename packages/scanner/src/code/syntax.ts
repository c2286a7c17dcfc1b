/** A node of a syntax tree, by the name that its parser gives it: for punctuation, the punctuation itself. */
export interface Tree {
  readonly name: string
  readonly start: number
  readonly end: number
  readonly children: readonly Tree[]
}

/** A part of a program in the form to which all languages are translated. Statements are expressions, too. */
export type Code = { readonly start: number; readonly end: number } & (
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'number'; readonly number: number }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'module'; readonly path: string }
  | { readonly type: 'member'; readonly of: Code; readonly key: Code }
  | { readonly type: 'slice'; readonly of: Code; readonly bounds: readonly (Code | undefined)[] }
  | { readonly type: 'call'; readonly callee: Code; readonly args: readonly Argument[] }
  /** An operator with its operands. */
  | { readonly type: 'operation'; readonly operator: string; readonly parts: readonly Code[] }
  /** A template or a format string. */
  | { readonly type: 'template'; readonly parts: readonly Code[] }
  | { readonly type: 'list'; readonly items: readonly Code[] }
  | { readonly type: 'spread'; readonly of: Code }
  /** An object or dictionary; an entry without a key is spread into it. */
  | { readonly type: 'map'; readonly entries: readonly { readonly key?: Code; readonly value: Code }[] }
  | { readonly type: 'function'; readonly name?: string; readonly parameters: readonly Code[]; readonly body: Code }
  | { readonly type: 'class'; readonly name?: string; readonly body: Code }
  | { readonly type: 'comprehension'; readonly target: Code; readonly over: Code; readonly item: Code }
  /** Has the value of one of its parts. */
  | { readonly type: 'choice'; readonly parts: readonly Code[] }
  /** The operator is `define` for a new variable, `=`, or an operator such as `+`, whose result is assigned. */
  | { readonly type: 'assign'; readonly target: Code; readonly operator: string; readonly value: Code }
  /** Names of variables that belong to an outer scope. */
  | { readonly type: 'outside'; readonly names: readonly string[] }
  | { readonly type: 'return'; readonly value: Code }
  | { readonly type: 'each'; readonly target: Code; readonly over: Code; readonly body: Code }
  | { readonly type: 'while'; readonly test: Code; readonly body: Code }
  /** Parts in their order. The value of the block is the value of the last part. */
  | { readonly type: 'block'; readonly parts: readonly Code[] }
)

export interface Argument {
  readonly name?: string
  readonly value: Code
}
