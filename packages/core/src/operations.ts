import type { Operations, endpoints } from '@skillstead/protocol'
import { createApiKey, deleteApiKey, issueKey, listApiKeys } from './accounts/api-keys.ts'
import { listAudit } from './accounts/audit-list.ts'
import { getSession, readAvatar, setFollowing, showFollowing, showMe, showUser, updateMe } from './accounts/profiles.ts'
import { createSession, deleteSession } from './accounts/sessions.ts'
import { createUser, listUsers, updateUser } from './accounts/users.ts'
import { listAgents } from './agents/leaderboard.ts'
import { getAgent } from './agents/profile.ts'
import { registerAgent } from './agents/register.ts'
import { resetAgentToken } from './agents/reset-token.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import { decideCopyReport, listCopyReports } from './copies/copy-reports.ts'
import { reportCopy } from './copies/report.ts'
import { showSimilarity } from './copies/show-similarity.ts'
import { diffSkill } from './diff/diff-skill.ts'
import { submitCounterNotice } from './dmca/counter-notice.ts'
import { decideCase } from './dmca/decide.ts'
import { listCases, showCase } from './dmca/read.ts'
import { submitDmca } from './dmca/submit.ts'
import { appealModeration } from './moderation/appeal.ts'
import { moderateSkill } from './moderation/moderate.ts'
import { listModerated } from './moderation/list-moderated.ts'
import { reportSkill } from './moderation/report.ts'
import { decideReport, listReports } from './moderation/reports.ts'
import { getModeration } from './moderation/show.ts'
import { addExternal, deleteExternal } from './external/index-skill.ts'
import { listExternal } from './external/list.ts'
import { scanExternal } from './external/scan-external.ts'
import { heartbeat } from './heartbeat/heartbeat.ts'
import { loadSkill } from './loading/load-skill.ts'
import { createBackup, listBackups } from './operator/backups.ts'
import {
  addMirror,
  listMirrors,
  listMirrorWrites,
  removeMirror,
  settleMirrorWrite,
  showMirror,
  syncMirror,
} from './operator/mirrors.ts'
import { listOutbox, retryOutboxRow } from './operator/outbox.ts'
import { showOverview } from './operator/overview.ts'
import { showRateLimits } from './operator/rate-limits.ts'
import { setUp, showSetup } from './operator/setup.ts'
import { showStorage } from './operator/storage-use.ts'
import { listPacks } from './packs/list.ts'
import { getPack } from './packs/find-pack.ts'
import { showPack } from './packs/pack-form.ts'
import { createPack, deletePack, updatePack } from './packs/packs.ts'
import { showProvenance } from './provenance/show-provenance.ts'
import { listAuthors } from './reputation/leaderboard.ts'
import { showReputation } from './reputation/show-reputation.ts'
import { createAgentReview } from './reviews/create-agent-review.ts'
import { createIssue, listIssues } from './reviews/issues.ts'
import { listAgentReviews } from './reviews/list-agent-reviews.ts'
import { markAgentReviewHelpful } from './reviews/mark-helpful.ts'
import { createReview, listReviews } from './reviews/reviews.ts'
import { createRequest, getRequest, listRequests } from './requests/requests.ts'
import { updateRequest } from './requests/update.ts'
import { listVotes, voteForRequest, withdrawRequestVote } from './requests/votes.ts'
import { deleteHeld, listHeld, readHeldFile, showHeld } from './security/held.ts'
import { releaseHeld } from './security/release-held.ts'
import { startRescan } from './security/rescan.ts'
import { deleteCollaborator, listCollaborators, putCollaborator } from './skills/collaborators.ts'
import { acceptCollaboration, listInvitations } from './skills/invitations.ts'
import { forkSkill } from './skills/fork.ts'
import { listForks } from './skills/forks.ts'
import { listStars, showStar } from './skills/list-stars.ts'
import { listOwnSkills } from './skills/own-skills.ts'
import { publishSkill } from './skills/publish.ts'
import { listVersions, readArchiveOf, readFile, readSkillMd, showSkill, showVersion } from './skills/read.ts'
import { listCategories, searchSkills, suggest } from './skills/search.ts'
import { createShare, deleteShare, listShares } from './skills/shares.ts'
import { setStarred } from './skills/stars.ts'
import { acceptTransfer, cancelTransfer, listTransfers, offerTransfer } from './skills/transfer.ts'
import { deleteSkill, setYanked } from './skills/withdraw.ts'
import { readBlob, readBlobs } from './sync/blobs.ts'
import { readFeed } from './sync/feed.ts'
import { showDownloads } from './telemetry/show-downloads.ts'
import { track } from './telemetry/track.ts'
import { getTrending } from './telemetry/trending.ts'
import { readCheckpoint } from './transparency/checkpoint.ts'
import { readTile } from './transparency/read-tile.ts'
import { readPublicKeys } from './transparency/keys.ts'
import { decideVerification } from './verification/decide.ts'
import { listOwnVerifications, listVerifications } from './verification/list.ts'
import { verifyAuthor } from './verification/verify-author.ts'
import { createWebhook } from './webhooks/create-webhook.ts'
import { deleteWebhook } from './webhooks/delete-webhook.ts'
import { listWebhooks, showWebhook } from './webhooks/read-webhooks.ts'
import { pingWebhook } from './webhooks/ping-webhook.ts'
import { retryDelivery } from './webhooks/retry-delivery.ts'
import { showDelivery } from './webhooks/show-delivery.ts'
import { updateWebhook } from './webhooks/update-webhook.ts'

/** Every endpoint of the table, as a function of the registry's parts, the input and who asks. */
export const operations = {
  searchSkills,
  suggest,
  getSimilarity: showSimilarity,
  listCategories: (context) => listCategories(context),
  publishSkill,
  getSkill: showSkill as (...input: Parameters<typeof showSkill>) => never,
  deleteSkill,
  getSkillMd: readSkillMd,
  getArchive: readArchiveOf,
  getFile: readFile,
  listVersions,
  getVersion: showVersion,
  loadSkill,
  diffSkill,
  listForks,
  getDownloads: showDownloads,
  yankVersion: (context, input, caller) => setYanked(context, input, true, caller),
  unyankVersion: (context, input, caller) => setYanked(context, input, false, caller),
  getProvenance: showProvenance,
  forkSkill,
  starSkill: (context, input, caller) => setStarred(context, input, true, caller),
  unstarSkill: (context, input, caller) => setStarred(context, input, false, caller),
  getStar: showStar,
  listStars,
  listOwnSkills,
  listCollaborators,
  putCollaborator,
  deleteCollaborator,
  acceptCollaboration,
  listInvitations: (context, _input, caller) => listInvitations(context, caller),
  createShare,
  listShares,
  deleteShare,
  transferSkill: offerTransfer,
  acceptTransfer,
  cancelTransfer,
  listTransfers: (context, _input, caller) => listTransfers(context, caller),

  listAgentReviews,
  createAgentReview,
  markAgentReviewHelpful,
  listReviews,
  createReview,
  listIssues,
  createIssue,
  listAgents,
  registerAgent,
  getAgent,
  resetAgentToken,
  heartbeat,

  listPacks,
  getPack: async (context, { slug }, caller) => showPack(context, await getPack(context, slug, caller), caller),
  createPack,
  updatePack,
  deletePack,

  listApiKeys,
  createApiKey,
  deleteApiKey,
  createSession,
  deleteSession,
  getMe: (context, _input, caller) => showMe(context, caller),
  getSession,
  updateMe,
  getUser: showUser,
  getAvatar: readAvatar,
  getFollow: showFollowing,
  followUser: (context, input, caller) => setFollowing(context, input, true, caller),
  unfollowUser: (context, input, caller) => setFollowing(context, input, false, caller),
  listUsers,
  createUser,
  updateUser,
  issueKey,
  listAudit,

  listExternal,
  scanExternal,
  addExternal,
  deleteExternal,
  track,
  getTrending,

  submitDmca,
  getDmca: showCase,
  submitCounterNotice,
  listDmca: listCases,
  updateDmca: decideCase,

  verifyAuthor,
  listOwnVerifications,
  listVerifications,
  decideVerification,
  getReputation: showReputation,
  getLeaderboard: (context, input) => listAuthors(context, input),

  listRequests,
  createRequest,
  getRequest,
  updateRequest,
  listVotes,
  voteForRequest,
  withdrawRequestVote,

  reportCopy,
  listCopyReports,
  decideCopyReport,
  reportSkill,
  appealModeration,
  getModeration,
  moderateSkill,
  listModerated,
  listReports,
  decideReport,

  listHeld,
  getHeld: showHeld,
  getHeldFile: readHeldFile,
  releaseHeld,
  deleteHeld,
  startRescan,

  listWebhooks,
  createWebhook,
  getWebhook: showWebhook,
  updateWebhook,
  deleteWebhook,
  getDelivery: showDelivery,
  retryDelivery,
  pingWebhook,

  getFeed: readFeed as (...input: Parameters<typeof readFeed>) => never,
  getBlob: readBlob,
  batchBlobs: readBlobs,
  getCheckpoint: (context) => readCheckpoint(context),
  getTile: readTile,
  getPublicKey: (context) => readPublicKeys(context),

  getSetup: (context) => showSetup(context),
  setUp,
  getOverview: (context) => showOverview(context),
  listOutbox,
  retryOutboxRow,
  getStorage: (context) => showStorage(context),
  getRateLimits: (context) => showRateLimits(context),
  listBackups: (context) => listBackups(context),
  createBackup,

  listMirrors: (context) => listMirrors(context),
  getMirror: showMirror,
  addMirror,
  removeMirror,
  syncMirror,
  listMirrorWrites,
  settleMirrorWrite,
} satisfies Operations<typeof endpoints, Context, Caller>
