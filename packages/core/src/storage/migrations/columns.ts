import type { ColumnDefinitionBuilder } from 'kysely'

type Column = ColumnDefinitionBuilder

export const required = (column: Column) => column.notNull()
export const primary = (column: Column) => column.primaryKey().notNull()
export const unique = (column: Column) => column.notNull().unique()
/** A number that starts at 0, or a flag that is not set. */
export const zero = (column: Column) => column.notNull().defaultTo(0)
export const startsAs = (text: string) => (column: Column) => column.notNull().defaultTo(text)

/** References to a column, as `skills.id`. */
export const to = (target: string) => (column: Column) => column.notNull().references(target)
export const maybeTo = (target: string) => (column: Column) => column.references(target)
export const primaryTo = (target: string) => (column: Column) => primary(column).references(target)
export const uniqueTo = (target: string) => (column: Column) => unique(column).references(target)
