import * as v from 'valibot'
import { searchFilters, type SearchFilterName } from '../filter-table.ts'
import { skillClients } from '../skill-clients.ts'
import { Flag, Term, wholeNumber } from './fields.ts'

const parameters = {
  text: v.optional(Term),
  flag: v.optional(Flag),
  included: v.optional(Flag, false),
  percentage: v.optional(wholeNumber(0, 100)),
  client: v.optional(v.picklist(skillClients.map(({ id }) => id))),
}
const values = {
  text: v.optional(v.string()),
  flag: v.optional(v.boolean()),
  included: v.boolean(),
  percentage: v.optional(v.number()),
  client: v.optional(v.string()),
}

type Entries<Schemas extends typeof parameters | typeof values> = {
  [Name in SearchFilterName]: Schemas[(typeof searchFilters)[Name]['kind']]
}

function toFilterEntries<Schemas extends typeof parameters | typeof values>(schemas: Schemas): Entries<Schemas> {
  const entries = Object.entries(searchFilters).map(([name, { kind }]) => [name, schemas[kind]])
  // The cast restores the names of the fields, which TypeScript loses in `fromEntries`.
  return Object.fromEntries(entries) as Entries<Schemas>
}

/** The filters as parameters of a search. */
export const filterParameters = toFilterEntries(parameters)

/** The filters of a search as its response repeats them. */
export const SearchFilters = v.object(toFilterEntries(values))
export type SearchFilters = v.InferOutput<typeof SearchFilters>
