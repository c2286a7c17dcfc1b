import type { Generated } from 'kysely'

/** A column of a table; `Value` is the type of its values in a row, the same on both databases. */
export interface Column<Value> {
  readonly type: 'text' | 'integer' | 'real' | 'bytes'
  readonly isOptional?: true
  /** Carries the type of the column's values, and is never set. */
  readonly value?: Value
}

export const text: Column<string> = { type: 'text' }
/** A whole number: also a time in milliseconds since 1970, and a flag, 0 or 1. */
export const whole: Column<number> = { type: 'integer' }
export const fraction: Column<number> = { type: 'real' }
export const bytes: Column<Uint8Array> = { type: 'bytes' }

/** Text that is one of a few words; only the compiler checks that. */
export function oneOf<Word extends string>(): Column<Word> {
  return { type: 'text' }
}

declare const contents: unique symbol

/** The JSON text of a value. Any text may be stored in its place: only the program that reads it relies on the type. */
export type Json<Value> = string & { readonly [contents]?: Value }

/** A column of JSON text. */
export function json<Value>(): Column<Json<Value>> {
  return { type: 'text' }
}

/** The value of a JSON column, in the form in which this program wrote it. */
export function parseJson<Value>(stored: Json<Value>): Value {
  return JSON.parse(stored)
}

/** A column that may be null. */
export function optional<Value>({ type }: Column<Value>): Column<Value | null> {
  return { type, isOptional: true }
}

/** A column with a default value, which an insert may omit. */
export function generated<Value>({ type }: Column<Value>): Column<Generated<Value>> {
  return { type }
}

/** The columns of tables in the order of their creation. A test compares them with the schema after all migrations. */
type TableSet = Readonly<Record<string, Readonly<Record<string, Column<unknown>>>>>

/** The types of the rows of tables. */
export type RowsOf<Set extends TableSet> = {
  [T in keyof Set]: { -readonly [K in keyof Set[T]]: Exclude<Set[T][K]['value'], undefined> }
}
