import { RegistryError, type EndpointName, type Operations, type endpoints } from '@skillstead/protocol'
import { createApiKey, deleteApiKey, listApiKeys } from './accounts/api-keys.ts'
import { listAudit } from './accounts/audit-list.ts'
import { getUserByName } from './accounts/find-user.ts'
import { readAvatar, setFollowing, showMe, showUser, updateMe } from './accounts/profiles.ts'
import { createUser, listUsers, updateUser } from './accounts/users.ts'
import { requireUser, type Caller } from './caller.ts'
import type { Context } from './context.ts'
import { listPacks } from './packs/list.ts'
import { getPack } from './packs/find-pack.ts'
import { showPack } from './packs/pack-form.ts'
import { createPack, deletePack, updatePack } from './packs/packs.ts'
import { deleteCollaborator, listCollaborators, putCollaborator } from './skills/collaborators.ts'
import { getMovedSkill, getSkill } from './skills/find-skill.ts'
import { forkSkill } from './skills/fork.ts'
import { publishSkill } from './skills/publish.ts'
import { listVersions, readArchiveOf, readFile, readSkillMd, showSkill, showVersion } from './skills/read.ts'
import { listCategories, searchSkills, suggest } from './skills/search.ts'
import { setStarred } from './skills/stars.ts'
import { acceptTransfer, cancelTransfer, listTransfers, offerTransfer } from './skills/transfer.ts'
import { deleteSkill, setYanked } from './skills/withdraw.ts'
import { readBlob, readBlobs } from './sync/blobs.ts'
import { readFeed } from './sync/feed.ts'

/** What answers `not_implemented` for now. The list can only shrink; a test holds it. */
export const notImplemented = [
  ...(['loadSkill', 'diffSkill', 'getSimilarity', 'getProvenance', 'reportCopy', 'reportSkill'] as const),
  ...(['appealModeration', 'getModeration', 'moderateSkill', 'listReports', 'decideReport'] as const),
  ...(['listCopyReports', 'decideCopyReport'] as const),
  ...(['createShare', 'listShares', 'deleteShare'] as const),
  ...(['listAgentReviews', 'createAgentReview', 'markAgentReviewHelpful'] as const),
  ...(['listReviews', 'createReview', 'listIssues', 'createIssue'] as const),
  ...(['listAgents', 'registerAgent', 'getAgent', 'heartbeat'] as const),
  ...([
    'listRequests',
    'createRequest',
    'getRequest',
    'updateRequest',
    'voteForRequest',
    'withdrawRequestVote',
  ] as const),
  ...(['createSession', 'deleteSession', 'getReputation', 'getLeaderboard', 'verifyAuthor'] as const),
  ...(['listOwnVerifications', 'listVerifications', 'decideVerification'] as const),
  ...(['submitDmca', 'getDmca', 'submitCounterNotice', 'listDmca', 'updateDmca'] as const),
  ...(['listExternal', 'scanExternal', 'addExternal', 'deleteExternal', 'track', 'getTrending'] as const),
  ...(['listWebhooks', 'createWebhook', 'getWebhook', 'updateWebhook', 'deleteWebhook'] as const),
  ...(['retryDelivery', 'pingWebhook', 'getCheckpoint', 'getTile', 'getPublicKey'] as const),
] as const satisfies readonly EndpointName[]

type NotImplemented = (typeof notImplemented)[number]

/** Every endpoint of the table, as a function of the registry's parts, the input and who asks. */
export const operations = {
  ...(Object.fromEntries(notImplemented.map((name) => [name, refuse])) as Record<NotImplemented, typeof refuse>),
  verifyAuthor: refuseVerification,

  searchSkills,
  suggest,
  listCategories: (context) => listCategories(context),
  publishSkill,
  getSkill: showSkill as (...input: Parameters<typeof showSkill>) => never,
  deleteSkill,
  getSkillMd: readSkillMd,
  getArchive: readArchiveOf,
  getFile: readFile,
  listVersions,
  getVersion: showVersion,
  yankVersion: (context, input, caller) => setYanked(context, input, true, caller),
  unyankVersion: (context, input, caller) => setYanked(context, input, false, caller),
  forkSkill,
  starSkill: (context, input, caller) => setStarred(context, input, true, caller),
  unstarSkill: (context, input, caller) => setStarred(context, input, false, caller),
  listCollaborators,
  putCollaborator,
  deleteCollaborator,
  transferSkill: offerTransfer,
  acceptTransfer,
  cancelTransfer,
  listTransfers: (context, _input, caller) => listTransfers(context, caller),

  listPacks,
  getPack: async (context, { slug }, caller) => showPack(context, await getPack(context, slug, caller), caller),
  createPack,
  updatePack,
  deletePack,

  listApiKeys,
  createApiKey,
  deleteApiKey,
  getMe: (context, _input, caller) => showMe(context, caller),
  updateMe,
  getUser: showUser,
  getAvatar: readAvatar,
  followUser: (context, input, caller) => setFollowing(context, input, true, caller),
  unfollowUser: (context, input, caller) => setFollowing(context, input, false, caller),
  listUsers,
  createUser,
  updateUser,
  listAudit,

  getFeed: readFeed as (...input: Parameters<typeof readFeed>) => never,
  getBlob: readBlob,
  batchBlobs: readBlobs,
} satisfies Operations<typeof endpoints, Context, Caller>

/** Whether the caller may see the thing at all is told first, so that a 501 gives nothing away. */
async function refuse(context: Context, input: object, caller: Caller): Promise<never> {
  if ('name' in input && typeof input.name === 'string') await getSkill(context, input.name, caller)
  if ('username' in input && typeof input.username === 'string') await getUserByName(context, input.username)
  // An install from elsewhere may be of a skill that nobody here has heard of.
  const isElsewhere = 'source' in input && input.source !== 'registry'
  if ('skillName' in input && typeof input.skillName === 'string' && !isElsewhere)
    await getMovedSkill(context, input.skillName, caller)
  throw new RegistryError('not_implemented', 'This part of the interface is not built yet.')
}

async function refuseVerification(context: Context, input: { username: string }, caller: Caller): Promise<never> {
  const user = await getUserByName(context, input.username)
  if (user.id !== requireUser(caller).userId)
    throw new RegistryError('forbidden', `Only ${user.username} may ask for the verification of this account.`)
  return refuse(context, input, caller)
}
