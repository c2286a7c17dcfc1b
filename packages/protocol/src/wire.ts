import { limits } from './limits.ts'

export {
  RegistryError,
  errorTable,
  isRegistryError,
  isResponseCode,
  type ErrorCode,
  type FieldError,
  type Problem,
} from './errors.ts'
export { limits } from './limits.ts'
export { attempt } from './attempt.ts'
export { JsonLimitError, isRecord, parseForeignJson, toFields } from './parse-json.ts'
export { keysOf, toRecord } from './typed-names.ts'

/** The method of an endpoint. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * The method and path of an endpoint below `/api/v1`, and its marks: `content` if the body of the response is not JSON,
 * `uploads` if the body of the request may be an archive, and `reads` for a POST that changes nothing: its input is too
 * long for a URL.
 */
export type WireLine =
  | `${Method} /${string}`
  | `${Method} /${string} ${'content' | 'uploads' | 'reads' | 'content reads'}`

/**
 * All endpoints with their methods and paths. To call the endpoints, a client needs only this table, which has a tenth
 * of the bytes of the schemas.
 */
export const wire = {
  searchSkills: 'GET /skills',
  searchByNeed: 'POST /search reads',
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
  recallSkill: 'POST /skills/:name/recalls',
  listRecalls: 'GET /skills/:name/recalls',
  endRecall: 'DELETE /skills/:name/recalls/:id',
  listForks: 'GET /skills/:name/forks',
  listDependents: 'GET /skills/:name/dependents',
  resolveSkills: 'POST /resolve',
  getDownloads: 'GET /skills/:name/downloads',
  listInstallers: 'GET /skills/:name/installers',
  getSimilarity: 'GET /skills/:name/similarity',
  getProvenance: 'GET /skills/:name/provenance',
  getSbom: 'GET /skills/:name/versions/:version/sbom content',
  yankVersion: 'DELETE /skills/:name/versions/:version',
  unyankVersion: 'PUT /skills/:name/versions/:version',
  forkSkill: 'POST /skills/:name/fork',
  starSkill: 'PUT /skills/:name/star',
  unstarSkill: 'DELETE /skills/:name/star',
  getStar: 'GET /skills/:name/star',
  listStars: 'GET /stars',
  listOwnSkills: 'GET /users/me/skills',
  listCollaborators: 'GET /skills/:name/collaborators',
  putCollaborator: 'PUT /skills/:name/collaborators/:username',
  deleteCollaborator: 'DELETE /skills/:name/collaborators/:username',
  acceptCollaboration: 'POST /skills/:name/collaborators/accept',
  listInvitations: 'GET /invitations',
  transferSkill: 'POST /skills/:name/transfer',
  acceptTransfer: 'POST /skills/:name/transfer/accept',
  cancelTransfer: 'DELETE /skills/:name/transfer',
  listTransfers: 'GET /transfers',
  createShare: 'POST /skills/:name/shares',
  listShares: 'GET /skills/:name/shares',
  deleteShare: 'DELETE /skills/:name/shares/:id',
  listEvaluations: 'GET /skills/:name/versions/:version/evaluations',
  createEvaluation: 'POST /skills/:name/versions/:version/evaluations',
  deleteEvaluation: 'DELETE /skills/:name/versions/:version/evaluations/:username',
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
  listModerated: 'GET /moderation',
  listReports: 'GET /reports',
  decideReport: 'PATCH /reports/:id',
  listCopyReports: 'GET /copy-reports',
  decideCopyReport: 'PATCH /copy-reports/:id',
  listQuarantined: 'GET /quarantine',
  getQuarantined: 'GET /quarantine/:id',
  getQuarantinedFile: 'GET /quarantine/:id/files/**:path content',
  diffQuarantined: 'GET /quarantine/:id/diff',
  reviewQuarantined: 'PUT /quarantine/:id/review',
  commentQuarantined: 'POST /quarantine/:id/comments',
  releaseQuarantined: 'POST /quarantine/:id/release',
  deleteQuarantined: 'DELETE /quarantine/:id',
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
  listVotes: 'GET /votes',
  voteForRequest: 'POST /requests/:id/vote',
  withdrawRequestVote: 'DELETE /requests/:id/vote',
  listApiKeys: 'GET /api-keys',
  createApiKey: 'POST /api-keys',
  deleteApiKey: 'DELETE /api-keys/:id',
  getMe: 'GET /users/me',
  updateMe: 'PATCH /users/me',
  createSession: 'POST /session',
  getSession: 'GET /session',
  deleteSession: 'DELETE /session',
  listSessions: 'GET /sessions',
  endSession: 'DELETE /sessions/:id',
  getUser: 'GET /users/:username',
  getAvatar: 'GET /users/:username/avatar content',
  getFollow: 'GET /users/:username/follow',
  followUser: 'PUT /users/:username/follow',
  unfollowUser: 'DELETE /users/:username/follow',
  listUsers: 'GET /users',
  createUser: 'POST /users',
  updateUser: 'PATCH /users/:username',
  issueKey: 'POST /users/:username/keys',
  createOrganisation: 'POST /organisations',
  listOrganisations: 'GET /organisations',
  getOrganisation: 'GET /organisations/:organisation',
  updateOrganisation: 'PATCH /organisations/:organisation',
  deleteOrganisation: 'DELETE /organisations/:organisation',
  listMembers: 'GET /organisations/:organisation/members',
  putMember: 'PUT /organisations/:organisation/members/:username',
  deleteMember: 'DELETE /organisations/:organisation/members/:username',
  acceptMembership: 'POST /organisations/:organisation/accept',
  listMemberInvitations: 'GET /invitations/organisations',
  listTeams: 'GET /organisations/:organisation/teams',
  putTeam: 'PUT /organisations/:organisation/teams/:team',
  updateTeam: 'PATCH /organisations/:organisation/teams/:team',
  deleteTeam: 'DELETE /organisations/:organisation/teams/:team',
  getPolicy: 'GET /organisations/:organisation/policy',
  setPolicy: 'PUT /organisations/:organisation/policy',
  testPolicy: 'POST /organisations/:organisation/policy/test reads',
  getSkillPolicy: 'GET /skills/:name/policy',
  setSkillPolicy: 'PUT /skills/:name/policy',
  listTrustedPublishers: 'GET /trusted-publishers',
  putTrustedPublisher: 'PUT /trusted-publishers',
  deleteTrustedPublisher: 'DELETE /trusted-publishers/:id',
  listAudit: 'GET /audit',
  exportAudit: 'GET /audit/export content',
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
  getDelivery: 'GET /webhooks/:id/deliveries/:deliveryId',
  retryDelivery: 'POST /webhooks/:id/deliveries/:deliveryId/retry',
  pingWebhook: 'POST /webhooks/:id/ping',
  getFeed: 'GET /feed',
  getBlob: 'GET /blobs/:digest content',
  batchBlobs: 'POST /blobs/batch content reads',
  getCheckpoint: 'GET /checkpoint content',
  getTile: 'GET /tile/**:path content',
  getPublicKey: 'GET /key content',
  getRulesBundle: 'GET /rules.bundle content',
  getSetup: 'GET /setup',
  setUp: 'POST /setup',
  getOverview: 'GET /operator/overview',
  listOutbox: 'GET /operator/outbox',
  retryOutboxRow: 'POST /operator/outbox/:id/retry',
  getStorage: 'GET /operator/storage',
  getRateLimits: 'GET /operator/rate-limits',
  listBackups: 'GET /operator/backups',
  createBackup: 'POST /operator/backups',
  listMirrors: 'GET /mirrors',
  getMirror: 'GET /mirrors/:upstream',
  addMirror: 'POST /mirrors',
  removeMirror: 'DELETE /mirrors/:upstream',
  syncMirror: 'POST /mirrors/:upstream/sync',
  listMirrorWrites: 'GET /mirrors/:upstream/writes',
  settleMirrorWrite: 'POST /mirrors/:upstream/writes/:id',
} as const satisfies Record<string, WireLine>

/** The name of an endpoint. */
export type EndpointName = keyof typeof wire

/** A parsed {@link WireLine}. */
export interface WireEndpoint {
  readonly method: Method
  readonly path: string
  /** Whether the response body is bytes. */
  readonly isContent: boolean
  /** Whether the input's `archive` is sent as the request body. */
  readonly takesUploads: boolean
  /** Whether the request changes nothing, so that it may be repeated. */
  readonly reads: boolean
}

/** Parses a line of the {@link wire} table. */
export function parseWireLine(line: WireLine): WireEndpoint {
  const [method, path, ...marks] = line.split(' ') as [Method, string, ...string[]]
  const [isContent, takesUploads] = [marks.includes('content'), marks.includes('uploads')]
  return { method, path, isContent, takesUploads, reads: method === 'GET' || marks.includes('reads') }
}

/** The endpoint for a search. A search that fits into a URL is sent with GET, whose responses can be cached. */
export function toSearchName({ q = '', context }: { readonly q?: string; readonly context?: object | undefined }) {
  return context === undefined && q.length <= limits.queryCharactersMax ? 'searchSkills' : 'searchByNeed'
}
