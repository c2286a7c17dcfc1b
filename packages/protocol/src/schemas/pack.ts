import * as v from 'valibot'
import { Count, Term, Timestamp, readableText } from './fields.ts'
import { Skill, Visibility } from './skill.ts'

const PackSkill = v.object({ ...Skill.entries, pinnedVersion: v.nullable(v.string()), note: v.string() })

/** A list of skills that a user chose, with the size of the names and descriptions of these skills. */
export const Pack = v.object({
  slug: v.string(),
  name: v.string(),
  description: v.string(),
  curator: v.object({ username: v.string() }),
  skills: v.array(PackSkill),
  skillCount: Count,
  visibility: Visibility,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  /** Whether the names and descriptions fit into the space that agent hosts reserve for their list of skills. */
  budget: v.object({ listingCharacters: Count, fits: v.boolean() }),
})
export type Pack = v.InferOutput<typeof Pack>

export const PackMember = v.union([
  Term,
  v.strictObject({
    name: Term,
    version: v.optional(Term),
    note: v.optional(readableText(1000, 0)),
  }),
])
