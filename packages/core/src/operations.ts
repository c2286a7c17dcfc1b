import type { endpoints, Operations } from '@skillstead/protocol'
import { createApiKey, deleteApiKey, issueKey, listApiKeys } from './accounts/api-keys.ts'
import { exportAudit, listAudit } from './accounts/audit-list.ts'
import {
  getSession,
  readAvatar,
  setFollowing,
  showFollowing,
  showMe,
  showUser,
  updateMe,
} from './community/user-profiles.ts'
import { acceptMembership, deleteMember, listMemberInvitations, listMembers, putMember } from './accounts/members.ts'
import {
  createOrganisation,
  deleteOrganisation,
  listOrganisations,
  showOrganisation,
  updateOrganisation,
} from './accounts/organisations.ts'
import { deleteTrustedPublisher, listTrustedPublishers, putTrustedPublisher } from './accounts/trusted-publishers.ts'
import { createSession, deleteSession, endSession, listSessions } from './accounts/sessions.ts'
import { createUser, listUsers, updateUser } from './accounts/users.ts'
import { getAgent, listAgents, registerAgent, resetAgentToken } from './community/agents.ts'
import type { Caller } from './kernel/caller.ts'
import type { EncodedJson } from './kernel/encoded-json.ts'
import type { OperatorContext } from './operator/operator-context.ts'
import { decideCopyReport, listCopyReports, reportCopy } from './catalogue/copies/copy-reports.ts'
import { showSimilarity } from './catalogue/copies/find-copies.ts'
import { diffSkill } from './catalogue/skills/diff-skill.ts'
import { submitCounterNotice, submitDmca, decideCase, listCases, showCase } from './governance/takedowns.ts'
import {
  appealModeration,
  getModeration,
  listModerated,
  moderateSkill,
  decideReport,
  listReports,
  reportSkill,
} from './governance/moderation.ts'
import { createEvaluation, deleteEvaluation, listEvaluations } from './governance/evaluations.ts'
import { addExternal, deleteExternal, listExternal, scanExternal } from './community/external-skills.ts'
import { heartbeat } from './community/heartbeat.ts'
import { loadSkill } from './catalogue/skills/load-skill.ts'
import {
  addMirror,
  listMirrors,
  listMirrorWrites,
  removeMirror,
  settleMirrorWrite,
  showMirror,
  syncMirror,
} from './operator/operate-mirrors.ts'
import { listOutbox, retryOutboxRow } from './operator/operate-outbox.ts'
import { showOverview, showRateLimits } from './operator/overview.ts'
import { setUp, showSetup } from './operator/setup.ts'
import { showStorage } from './operator/storage-use.ts'
import { getPack, listPacks, showPack } from './catalogue/sharing/read-packs.ts'
import { createPack, deletePack, updatePack } from './catalogue/sharing/packs.ts'
import { showProvenance } from './catalogue/copies/show-provenance.ts'
import { showSbom } from './catalogue/copies/show-sbom.ts'
import { listAuthors, showReputation } from './community/reputation.ts'
import { createAgentReview, listAgentReviews, markAgentReviewHelpful } from './community/agent-reviews.ts'
import { createIssue, createReview, listIssues, listReviews } from './community/reviews.ts'
import {
  createRequest,
  getRequest,
  listRequests,
  listVotes,
  updateRequest,
  voteForRequest,
  withdrawRequestVote,
} from './community/skill-requests.ts'
import { deleteQuarantined, readQuarantinedFile, showQuarantined, listQuarantined } from './governance/quarantine.ts'
import { listInstallers } from './community/installers.ts'
import { getPolicy, getSkillPolicy, setPolicy, setSkillPolicy, testPolicy } from './governance/policies.ts'
import {
  commentQuarantined,
  diffQuarantined,
  reviewQuarantined,
  releaseQuarantined,
} from './governance/quarantine-decisions.ts'
import { endRecall, listRecalls, recallSkill } from './governance/recall-versions.ts'
import { startRescan } from './governance/rescan.ts'
import {
  acceptCollaboration,
  deleteCollaborator,
  listCollaborators,
  listInvitations,
  putCollaborator,
} from './catalogue/sharing/collaborators.ts'
import { forkSkill } from './catalogue/publishing/forks.ts'
import { resolveSkills } from './catalogue/requires/resolve-skills.ts'
import {
  listDependents,
  listForks,
  listOwnSkills,
  listStars,
  setStarred,
  showStar,
} from './catalogue/skills/skill-lists.ts'
import { publishSkill } from './catalogue/publishing/publish-skill.ts'
import {
  listVersions,
  showArchive,
  showFile,
  showSkillMd,
  showSkill,
  showVersion,
} from './catalogue/skills/read-skill.ts'
import { listCategories, searchSkills, suggestSkills } from './catalogue/finding/skill-search.ts'
import { deleteTeam, listTeams, putTeam, updateTeam } from './catalogue/sharing/team-roles.ts'
import { createShare, deleteShare, listShares } from './catalogue/sharing/share-links.ts'
import { acceptTransfer, cancelTransfer, listTransfers, offerTransfer } from './catalogue/sharing/skill-transfer.ts'
import { deleteSkill, setYanked } from './catalogue/skills/change-skill.ts'
import { showBlob, streamBlobs } from './catalogue/offers/blob-reads.ts'
import { readFeed } from './catalogue/skills/feed.ts'
import { showDownloads } from './community/download-days.ts'
import { track } from './community/track.ts'
import { getTrending, rollTrendsToNow } from './community/trends.ts'
import { readCheckpoint } from './log/checkpoint.ts'
import { readTile } from './log/tiles.ts'
import { readPublicKeys } from './log/signing-keys.ts'
import { readRulesBundle } from './governance/rules-updates.ts'
import { decideVerification, listOwnVerifications, listVerifications, verifyAuthor } from './accounts/verifications.ts'
import { createWebhook, deleteWebhook, listWebhooks, showWebhook, updateWebhook } from './webhooks/webhooks.ts'
import { pingWebhook, retryDelivery, showDelivery } from './webhooks/webhook-deliveries.ts'

/** The operation of every endpoint: a function of the registry's context, the input and the caller. */
export const operations = {
  searchSkills: fromReplica(searchSkills),
  searchByNeed: fromReplica(searchSkills),
  suggest: fromReplica(suggestSkills),
  getSimilarity: showSimilarity,
  listCategories: fromReplica(listCategories),
  publishSkill,
  getSkill: showSkill,
  deleteSkill,
  getSkillMd: showSkillMd,
  getArchive: showArchive,
  getFile: showFile,
  listVersions,
  getVersion: showVersion,
  loadSkill,
  diffSkill,
  listForks,
  listDependents,
  resolveSkills,
  getDownloads: showDownloads,
  listInstallers,
  yankVersion: (context, input, caller) => setYanked(context, input, true, caller),
  unyankVersion: (context, input, caller) => setYanked(context, input, false, caller),
  recallSkill,
  listRecalls,
  endRecall,
  getProvenance: showProvenance,
  getSbom: showSbom,
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

  listEvaluations,
  createEvaluation,
  deleteEvaluation,

  listAgentReviews,
  createAgentReview,
  markAgentReviewHelpful,
  listReviews,
  createReview,
  listIssues,
  createIssue,
  listAgents: fromReplica(listAgents),
  registerAgent,
  getAgent,
  resetAgentToken,
  heartbeat,

  listPacks: fromReplica(listPacks),
  getPack: async (context, { slug }, caller) => showPack(context, await getPack(context, slug, caller), caller),
  createPack,
  updatePack,
  deletePack,

  listApiKeys,
  createApiKey,
  deleteApiKey,
  createSession,
  deleteSession,
  listSessions,
  endSession,
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
  exportAudit,

  createOrganisation,
  listOrganisations,
  getOrganisation: showOrganisation,
  updateOrganisation,
  deleteOrganisation,
  listMembers,
  putMember,
  deleteMember,
  acceptMembership,
  listMemberInvitations: (context, _input, caller) => listMemberInvitations(context, caller),
  listTeams,
  putTeam,
  updateTeam,
  deleteTeam,
  listTrustedPublishers,
  putTrustedPublisher,
  deleteTrustedPublisher,
  getPolicy,
  setPolicy,
  testPolicy,
  getSkillPolicy,
  setSkillPolicy,

  listExternal: fromReplica(listExternal),
  scanExternal,
  addExternal,
  deleteExternal,
  track,
  async getTrending(context, input, caller) {
    // Write before the read of the replica begins: that read waits only for writes that were committed before it.
    await rollTrendsToNow(context, input.period)
    return fromReplica(getTrending)(context, input, caller)
  },

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
  getLeaderboard: fromReplica(listAuthors),

  listRequests: fromReplica(listRequests),
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

  listQuarantined,
  getQuarantined: showQuarantined,
  getQuarantinedFile: readQuarantinedFile,
  diffQuarantined,
  reviewQuarantined,
  commentQuarantined,
  releaseQuarantined,
  deleteQuarantined,
  startRescan,

  listWebhooks,
  createWebhook,
  getWebhook: showWebhook,
  updateWebhook,
  deleteWebhook,
  getDelivery: showDelivery,
  retryDelivery,
  pingWebhook,

  getFeed: readFeed,
  getBlob: showBlob,
  batchBlobs: streamBlobs,
  getCheckpoint: (context) => readCheckpoint(context),
  getTile: readTile,
  getPublicKey: (context) => readPublicKeys(context),
  getRulesBundle: (context) => readRulesBundle(context),

  getSetup: (context) => showSetup(context),
  setUp,
  getOverview: (context) => showOverview(context),
  listOutbox,
  retryOutboxRow,
  getStorage: (context) => showStorage(context),
  getRateLimits: (context) => showRateLimits(context),
  listBackups: ({ backups }) => backups.list(),
  createBackup: ({ backups }, _input, caller) => backups.create(caller),

  listMirrors: (context) => listMirrors(context),
  getMirror: showMirror,
  addMirror,
  removeMirror,
  syncMirror,
  listMirrorWrites,
  settleMirrorWrite,
} satisfies Operations<typeof endpoints, OperatorContext, Caller, EncodedJson>

/** Makes an operation read the replica, if there is one. For lists and searches, which read many rows. */
function fromReplica<Args extends unknown[], Output>(
  work: (context: OperatorContext, ...args: Args) => Promise<Output>,
) {
  return (context: OperatorContext, ...args: Args): Promise<Output> =>
    context.replica
      ? context.replica.read((database) => work({ ...context, database }, ...args))
      : work(context, ...args)
}
