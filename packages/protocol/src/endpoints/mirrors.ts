import * as v from 'valibot'
import type { Endpoints } from '../endpoint.ts'
import { Count, NoContent, SkillName, Term, limit, page, pageFields, text } from '../schemas/fields.ts'
import { MirrorStatus, MirrorWrite, alarmCodes, mirrorOptions, writeStates } from '../schemas/mirror.ts'

const upstream = { upstream: Term }

/** The registries that a node follows, and what is written to them. */
export const mirrorEndpoints = {
  listMirrors: {
    method: 'GET',
    path: '/mirrors',
    auth: 'admin',
    scope: 'manage',
    tag: 'Mirrors',
    summary: 'List the registries that are followed, those that are synced first at the top',
    input: v.object({}),
    output: v.object({ mirrors: v.array(MirrorStatus), total: Count }),
  },
  getMirror: {
    method: 'GET',
    path: '/mirrors/:upstream',
    auth: 'admin',
    scope: 'manage',
    tag: 'Mirrors',
    summary: 'Show how a registry that is followed stands',
    input: v.object(upstream),
    output: MirrorStatus,
  },
  addMirror: {
    method: 'POST',
    path: '/mirrors',
    auth: 'admin',
    scope: 'manage',
    status: 201,
    tag: 'Mirrors',
    summary: 'Follow another registry: a node, any that speaks the specification, a discovery index, a git repository',
    input: v.strictObject({ name: SkillName, url: text(2000), ...mirrorOptions }),
    output: v.object({
      ...MirrorStatus.entries,
      /** Why the address could not be reached; null where it answered, or in offline mode. It is added all the same. */
      problem: v.nullable(v.string()),
    }),
  },
  removeMirror: {
    method: 'DELETE',
    path: '/mirrors/:upstream',
    auth: 'admin',
    scope: 'manage',
    status: 204,
    tag: 'Mirrors',
    summary: 'Follow a registry no more; what came from it stays',
    input: v.strictObject(upstream),
    output: NoContent,
  },
  syncMirror: {
    method: 'POST',
    path: '/mirrors/:upstream/sync',
    auth: 'admin',
    scope: 'manage',
    status: 202,
    tag: 'Mirrors',
    summary: 'Bring in what is new at a registry that is followed, in the background',
    input: v.strictObject({
      ...upstream,
      /** The alarm that you have looked into, and go on from. */
      accept: v.optional(v.picklist(alarmCodes)),
      /** The new verifier key, with the alarms `key` and `origin`; needed where the key was pinned. It is pinned then. */
      key: v.optional(text(500)),
      /** Goes on though it hides more skills than one in a hundred. */
      allowRemovals: v.optional(v.boolean()),
      /** From the beginning again: what is here is compared, and what lacks comes in. */
      full: v.optional(v.boolean()),
    }),
    output: MirrorStatus,
  },
  listMirrorWrites: {
    method: 'GET',
    path: '/mirrors/:upstream/writes',
    auth: 'admin',
    scope: 'manage',
    tag: 'Mirrors',
    summary: 'List what was done here and is to be done there too, in order',
    input: v.object({ ...upstream, state: v.optional(v.picklist(writeStates)), page, limit: limit() }),
    output: v.object({ writes: v.array(MirrorWrite), ...pageFields }),
  },
  settleMirrorWrite: {
    method: 'POST',
    path: '/mirrors/:upstream/writes/:id',
    auth: 'admin',
    scope: 'manage',
    tag: 'Mirrors',
    summary: 'Send a write again, give it up, or publish it there under another name',
    input: v.strictObject({
      ...upstream,
      id: Term,
      action: v.picklist(['retry', 'drop', 'rename']),
      /** With `rename`: a name without an owner. */
      newName: v.optional(SkillName),
    }),
    output: MirrorWrite,
  },
} as const satisfies Endpoints
