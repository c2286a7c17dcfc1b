import * as v from 'valibot'
import type { Endpoints } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { NoContent, SkillName, Term, boundedArray, limit, page, pageFields, prose, text } from '../schemas/fields.ts'
import { Pack, PackMember } from '../schemas/pack.ts'
import { Visibility, textWarnings } from '../schemas/skill.ts'

const slug = { slug: Term }
const skills = boundedArray(PackMember, limits.packSkillsMax)

/** Packs: curated collections of skills (specification 4.2). */
export const packEndpoints = {
  listPacks: {
    method: 'GET',
    path: '/packs',
    auth: 'none',
    tag: 'Packs',
    summary: 'List packs',
    input: v.object({ q: v.optional(text(1000, 0), ''), curator: v.optional(Term), page, limit: limit() }),
    output: v.object({ packs: v.array(Pack), ...pageFields }),
  },
  getPack: {
    method: 'GET',
    path: '/packs/:slug',
    auth: 'none',
    tag: 'Packs',
    summary: 'Show a pack with its skills',
    input: v.object(slug),
    output: Pack,
  },
  createPack: {
    method: 'POST',
    path: '/packs',
    auth: 'key',
    scope: 'publish',
    status: 201,
    tag: 'Packs',
    summary: 'Create a pack',
    input: v.strictObject({
      name: prose(100),
      slug: v.optional(SkillName),
      description: prose(2000, 0),
      skills,
      visibility: v.optional(Visibility, 'public'),
    }),
    output: v.object({ ...Pack.entries, ...textWarnings }),
  },
  updatePack: {
    method: 'PATCH',
    path: '/packs/:slug',
    auth: 'key',
    scope: 'publish',
    tag: 'Packs',
    summary: 'Update a pack',
    input: v.strictObject({
      ...slug,
      name: v.optional(prose(100)),
      description: v.optional(prose(2000, 0)),
      skills: v.optional(skills),
      visibility: v.optional(Visibility),
    }),
    output: v.object({ ...Pack.entries, ...textWarnings }),
  },
  deletePack: {
    method: 'DELETE',
    path: '/packs/:slug',
    auth: 'key',
    scope: 'publish',
    status: 204,
    tag: 'Packs',
    summary: 'Delete a pack',
    input: v.strictObject(slug),
    output: NoContent,
  },
} as const satisfies Endpoints
