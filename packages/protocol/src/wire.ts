import type { Endpoint } from './endpoint.ts'
import type { EndpointName } from './endpoints.ts'

export { RegistryError, errorTable, type ErrorCode, type FieldError, type Problem } from './errors.ts'
export { parseForeignJson } from './parse-json.ts'

type Method = Endpoint['method']

/** How an endpoint is called: its method, its path below `/api/v1`, and what goes out or comes back that is not JSON. */
export type WireLine = `${Method} /${string}` | `${Method} /${string} ${'content' | 'uploads'}`

/**
 * What a client must know of the endpoint table to call it, without its schemas: a tenth of the bytes. A test holds
 * the two equal.
 */
export const wire = {
  searchSkills: 'GET /skills',
  suggest: 'GET /suggest',
  listCategories: 'GET /categories',
  publishSkill: 'PUT /skills uploads',
  getSkill: 'GET /skills/:name',
  deleteSkill: 'DELETE /skills/:name',
  getSkillMd: 'GET /skills/:name/skill.md content',
  getArchive: 'GET /skills/:name/archive content',
  getFile: 'GET /skills/:name/files/**:path content',
  listVersions: 'GET /skills/:name/versions',
  getVersion: 'GET /skills/:name/versions/:version',
  loadSkill: 'GET /skills/:name/load',
  diffSkill: 'GET /skills/:name/diff',
  getSimilarity: 'GET /skills/:name/similarity',
  getProvenance: 'GET /skills/:name/provenance',
  yankVersion: 'DELETE /skills/:name/versions/:version',
  unyankVersion: 'PUT /skills/:name/versions/:version',
  forkSkill: 'POST /skills/:name/fork',
  starSkill: 'PUT /skills/:name/star',
  unstarSkill: 'DELETE /skills/:name/star',
  listCollaborators: 'GET /skills/:name/collaborators',
  putCollaborator: 'PUT /skills/:name/collaborators/:username',
  deleteCollaborator: 'DELETE /skills/:name/collaborators/:username',
  transferSkill: 'POST /skills/:name/transfer',
  acceptTransfer: 'POST /skills/:name/transfer/accept',
  cancelTransfer: 'DELETE /skills/:name/transfer',
  listTransfers: 'GET /transfers',
  createShare: 'POST /skills/:name/shares',
  listShares: 'GET /skills/:name/shares',
  deleteShare: 'DELETE /skills/:name/shares/:id',
  listAgentReviews: 'GET /skills/:name/agent-reviews',
  createAgentReview: 'POST /skills/:name/agent-reviews',
  markAgentReviewHelpful: 'POST /skills/:name/agent-reviews/:id/helpful',
  listReviews: 'GET /skills/:name/reviews',
  createReview: 'POST /skills/:name/reviews',
  listIssues: 'GET /skills/:name/issues',
  createIssue: 'POST /skills/:name/issues',
  reportCopy: 'POST /skills/:name/report-copy',
  reportSkill: 'POST /skills/:name/report',
  appealModeration: 'POST /skills/:name/appeal',
  getModeration: 'GET /skills/:name/moderation',
  moderateSkill: 'PUT /skills/:name/moderation',
  listReports: 'GET /reports',
  decideReport: 'PATCH /reports/:id',
  listCopyReports: 'GET /copy-reports',
  decideCopyReport: 'PATCH /copy-reports/:id',
  listHeld: 'GET /held',
  getHeld: 'GET /held/:id',
  getHeldFile: 'GET /held/:id/files/**:path content',
  releaseHeld: 'POST /held/:id/release',
  deleteHeld: 'DELETE /held/:id',
  startRescan: 'POST /scans',
  listPacks: 'GET /packs',
  getPack: 'GET /packs/:slug',
  createPack: 'POST /packs',
  updatePack: 'PATCH /packs/:slug',
  deletePack: 'DELETE /packs/:slug',
  listAgents: 'GET /agents',
  registerAgent: 'POST /agents',
  getAgent: 'GET /agents/:agentKey',
  resetAgentToken: 'POST /agents/:agentKey/token',
  heartbeat: 'POST /heartbeat',
  listRequests: 'GET /requests',
  createRequest: 'POST /requests',
  getRequest: 'GET /requests/:id',
  updateRequest: 'PATCH /requests/:id',
  voteForRequest: 'POST /requests/:id/vote',
  withdrawRequestVote: 'DELETE /requests/:id/vote',
  listApiKeys: 'GET /api-keys',
  createApiKey: 'POST /api-keys',
  deleteApiKey: 'DELETE /api-keys/:id',
  getMe: 'GET /users/me',
  updateMe: 'PATCH /users/me',
  createSession: 'POST /session',
  deleteSession: 'DELETE /session',
  getUser: 'GET /users/:username',
  getAvatar: 'GET /users/:username/avatar content',
  followUser: 'PUT /users/:username/follow',
  unfollowUser: 'DELETE /users/:username/follow',
  listUsers: 'GET /users',
  createUser: 'POST /users',
  updateUser: 'PATCH /users/:username',
  listAudit: 'GET /audit',
  getReputation: 'GET /users/:username/reputation',
  getLeaderboard: 'GET /reputation/leaderboard',
  verifyAuthor: 'POST /users/:username/verify',
  listOwnVerifications: 'GET /users/:username/verifications',
  listVerifications: 'GET /verifications',
  decideVerification: 'PATCH /verifications/:id',
  submitDmca: 'POST /dmca',
  getDmca: 'GET /dmca/:id',
  submitCounterNotice: 'POST /dmca/:id/counter-notice',
  listDmca: 'GET /dmca',
  updateDmca: 'PATCH /dmca/:id',
  listExternal: 'GET /external',
  scanExternal: 'POST /external/scan',
  addExternal: 'POST /external',
  deleteExternal: 'DELETE /external/:id',
  track: 'POST /track',
  getTrending: 'GET /trending',
  listWebhooks: 'GET /webhooks',
  createWebhook: 'POST /webhooks',
  getWebhook: 'GET /webhooks/:id',
  updateWebhook: 'PATCH /webhooks/:id',
  deleteWebhook: 'DELETE /webhooks/:id',
  retryDelivery: 'POST /webhooks/:id/deliveries/:deliveryId/retry',
  pingWebhook: 'POST /webhooks/:id/ping',
  getFeed: 'GET /feed',
  getBlob: 'GET /blobs/:digest content',
  batchBlobs: 'POST /blobs/batch content',
  getCheckpoint: 'GET /checkpoint content',
  getTile: 'GET /tile/**:path content',
  getPublicKey: 'GET /key content',
} as const satisfies Record<EndpointName, WireLine>

/** A {@link WireLine} taken apart. */
export interface WireEndpoint {
  readonly method: Method
  readonly path: string
  /** The answer's body is bytes. */
  readonly isContent: boolean
  /** The input's `archive` is the request's body. */
  readonly takesUploads: boolean
}

/** The parts of a line of the {@link wire} table. */
export function parseWireLine(line: WireLine): WireEndpoint {
  const [method, path, kind] = line.split(' ') as [Method, string, string?]
  return { method, path, isContent: kind === 'content', takesUploads: kind === 'uploads' }
}
