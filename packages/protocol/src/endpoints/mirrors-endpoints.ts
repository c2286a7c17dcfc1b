import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { Count, NoContent, SkillName, Term, pageLimit, page, pageFields, boundedText } from '../schemas/fields.ts'
import { MirrorStatus, MirrorWrite, alarmCodes, mirrorOptions, writeStates } from '../schemas/mirror.ts'

const upstream = { upstream: Term }

/** The upstream registries of a node, and the writes that it forwards to them. */
export const mirrorEndpoints = toEndpoints('Mirrors', {
  listMirrors: {
    auth: 'admin',
    scope: 'manage',
    summary: 'List the upstream registries, highest priority first',
    input: v.object({}),
    output: v.object({ mirrors: v.array(MirrorStatus), total: Count }),
  },
  getMirror: {
    auth: 'admin',
    scope: 'manage',
    summary: 'Show the state of an upstream registry',
    input: v.object(upstream),
    output: MirrorStatus,
  },
  addMirror: {
    auth: 'admin',
    scope: 'manage',
    status: 201,
    summary: 'Add an upstream: a node, another registry with the base API, a discovery index or a git repository',
    input: v.strictObject({ name: SkillName, url: boundedText(2000), ...mirrorOptions }),
    output: v.object({
      ...MirrorStatus.entries,
      /**
       * Why the upstream could not be reached; null if it responded, or in offline mode. The upstream is added in any
       * case.
       */
      problem: v.nullable(v.string()),
    }),
  },
  removeMirror: {
    auth: 'admin',
    scope: 'manage',
    status: 204,
    summary: 'Remove an upstream registry; its imported skills stay',
    input: v.strictObject(upstream),
    output: NoContent,
  },
  syncMirror: {
    auth: 'admin',
    scope: 'manage',
    status: 202,
    summary: 'Sync from an upstream registry in the background',
    input: v.strictObject({
      ...upstream,
      /** The code of the alarm that you have investigated: the sync ignores this alarm once. */
      accept: v.optional(v.picklist(alarmCodes)),
      /**
       * The new verifier key after the alarm `key` or `origin`; required if the old key was pinned. Pins the new key.
       */
      key: v.optional(boundedText(500)),
      /**
       * Continue although the sync would hide more skills than allowed: 1 % of the upstream's skills, but at least 5
       * and at most 20.
       */
      allowRemovals: v.optional(v.boolean()),
      /** Sync from the first entry: compare the local copies, and import missing versions. */
      full: v.optional(v.boolean()),
    }),
    output: MirrorStatus,
  },
  listMirrorWrites: {
    auth: 'admin',
    scope: 'manage',
    summary: 'List the writes that are forwarded to an upstream, in order',
    input: v.object({ ...upstream, state: v.optional(v.picklist(writeStates)), page, limit: pageLimit() }),
    output: v.object({ writes: v.array(MirrorWrite), ...pageFields }),
  },
  settleMirrorWrite: {
    auth: 'admin',
    scope: 'manage',
    summary: 'Retry or drop a forwarded write, or publish it at the upstream under another name',
    input: v.strictObject({
      ...upstream,
      id: Term,
      action: v.picklist(['retry', 'drop', 'rename']),
      /** With `rename`: the new short name, without an owner. */
      newName: v.optional(SkillName),
    }),
    output: MirrorWrite,
  },
})
