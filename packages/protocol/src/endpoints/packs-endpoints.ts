import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { limits } from '../limits.ts'
import {
  NoContent,
  SkillName,
  SkillRef,
  Term,
  Username,
  boundedArray,
  pageLimit,
  page,
  pageFields,
  readableText,
  boundedText,
} from '../schemas/fields.ts'
import { Pack, PackMember } from '../schemas/pack.ts'
import { Visibility, textWarnings } from '../schemas/skill.ts'

const slug = { slug: Term }
const skills = boundedArray(PackMember, limits.packSkillsMax)

/** Packs: curated collections of skills (docs/api.md#packs). */
export const packEndpoints = toEndpoints('Packs', {
  listPacks: {
    auth: 'none',
    summary:
      'List packs, all or those that have a skill; a page shows at most 5,000 skills in all, and `skillCount` is that of the whole pack',
    input: v.object({
      q: v.optional(boundedText(1000, 0), ''),
      curator: v.optional(Term),
      skill: v.optional(SkillRef),
      page,
      limit: pageLimit(),
    }),
    output: v.object({ packs: v.array(Pack), ...pageFields }),
  },
  getPack: {
    auth: 'none',
    summary: 'Show a pack with its skills',
    input: v.object(slug),
    output: Pack,
  },
  createPack: {
    auth: 'key',
    scope: 'publish',
    status: 201,
    summary: 'Create a pack',
    input: v.strictObject({
      name: readableText(100),
      slug: v.optional(SkillName),
      description: readableText(2000, 0),
      skills,
      visibility: v.optional(Visibility, 'public'),
      /** The owner of the pack: an organisation in which you may publish. Default: the caller. */
      owner: v.optional(Username),
    }),
    output: v.object({ ...Pack.entries, ...textWarnings }),
  },
  updatePack: {
    auth: 'key',
    scope: 'publish',
    summary: 'Update a pack: add and remove single skills, or replace those that you see',
    input: v.strictObject({
      ...slug,
      name: v.optional(readableText(100)),
      description: v.optional(readableText(2000, 0)),
      skills: v.optional(skills),
      /** Skills to append. A skill already in the pack keeps its place, and its values of fields that you omit. */
      add: v.optional(skills),
      /** Full names of the skills to remove; names that are not in the pack are ignored. */
      remove: v.optional(boundedArray(Term, limits.packSkillsMax)),
      visibility: v.optional(Visibility),
    }),
    output: v.object({ ...Pack.entries, ...textWarnings }),
  },
  deletePack: {
    auth: 'key',
    scope: 'publish',
    status: 204,
    summary: 'Delete a pack',
    input: v.strictObject(slug),
    output: NoContent,
  },
})
