import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { ContentBody, Count, Term, Timestamp, boundedArray, pageLimit, wholeNumber } from '../schemas/fields.ts'

const FeedEntry = v.object({
  seq: Count,
  type: v.picklist(['version', 'skill', 'yank', 'recall', 'evaluation', 'takedown', 'withdrawn', 'pack']),
  at: Timestamp,
  subject: v.string(),
  digest: v.nullable(v.string()),
  data: v.record(v.string(), v.unknown()),
})

/** Endpoints for mirrors and cluster nodes. */
export const syncEndpoints = toEndpoints('Sync', {
  getFeed: {
    auth: 'none',
    summary: 'Read the ordered log of public changes',
    volatile: true,
    input: v.object({
      since: v.optional(wholeNumber(0, Number.MAX_SAFE_INTEGER), 0),
      limit: pageLimit(100, 1000),
      wait: v.optional(wholeNumber(0, 30), 0),
    }),
    output: v.object({
      origin: v.string(),
      epoch: Count,
      entries: v.array(FeedEntry),
      next: Count,
      head: Count,
      checkpoint: v.nullable(v.string()),
    }),
  },
  getBlob: {
    auth: 'none',
    summary: 'Read the bytes of a public file by their digest',
    input: v.object({ digest: Term }),
    output: ContentBody,
  },
  batchBlobs: {
    auth: 'none',
    summary:
      'Read many blobs: one JSON line each, { digest, size, content (base64) }, { digest, missing: true }, or { digest, size, skipped: true } beyond 64 MiB',
    volatile: true,
    input: v.strictObject({ digests: boundedArray(Term, limits.blobBatchMax, 1) }),
    output: ContentBody,
  },
  getCheckpoint: {
    auth: 'none',
    summary: 'Read the signed checkpoint of the transparency log',
    input: v.object({}),
    output: ContentBody,
  },
  getTile: {
    auth: 'none',
    summary: 'Read a tile of the transparency log',
    input: v.object({ path: Term }),
    output: ContentBody,
  },
  getPublicKey: {
    auth: 'none',
    summary: "Read the node's public key",
    input: v.object({}),
    output: ContentBody,
  },
  getRulesBundle: {
    auth: 'none',
    summary: 'Read the signed bundle of scanner rules that the node has installed',
    input: v.object({}),
    output: ContentBody,
  },
})
