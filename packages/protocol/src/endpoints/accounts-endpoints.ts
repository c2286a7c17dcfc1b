import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { ApiKey, AuditEntry, Me, NewApiKey, Plan, Profile, Role, Scope, Session, User } from '../schemas/account.ts'
import {
  ContentBody,
  Count,
  Flag,
  NoContent,
  SkillRef,
  Term,
  Timestamp,
  Username,
  boundedArray,
  pageLimit,
  page,
  pageFields,
  readableText,
  boundedText,
  wholeNumber,
} from '../schemas/fields.ts'

const username = { username: Term }
const Avatar = v.strictObject({
  contentType: v.picklist(['image/png', 'image/jpeg', 'image/webp']),
  /** The image, base64. */
  content: v.pipe(v.string(), v.base64(), v.maxLength(Math.ceil((limits.avatarBytesMax * 4) / 3) + 4)),
})

const Moment = v.union([v.pipe(v.string(), v.isoDate()), Timestamp])
const auditFilters = {
  /** The name of an action, or its beginning: `quarantine.` selects all actions on quarantined versions. */
  action: v.optional(Term),
  actor: v.optional(Term),
  subject: v.optional(Term),
  /** A date, or a time with its zone. Entries at this time are included. */
  since: v.optional(Moment),
  /** As `since`; entries at this time are not included. */
  until: v.optional(Moment),
}

/** Keys and users (docs/api.md#keys-and-users). */
export const accountEndpoints = {
  ...toEndpoints('Account', {
    listApiKeys: {
      auth: 'key',
      scope: 'manage',
      summary: 'List your API keys, or as an administrator those of a user',
      input: v.object({ username: v.optional(Term), page, limit: pageLimit() }),
      output: v.object({ apiKeys: v.array(ApiKey), ...pageFields }),
    },
    createApiKey: {
      auth: 'key',
      scope: 'manage',
      status: 201,
      summary: 'Create an API key, which ends no later than the key in use; only this response contains it',
      input: v.strictObject({
        name: boundedText(100),
        expiresInDays: v.optional(wholeNumber(1, 3650)),
        scopes: v.optional(boundedArray(Scope, 3, 1)),
        /**
         * An owner, or the full name of a skill: the key publishes and yanks versions there, and changes nothing else.
         */
        limitedTo: v.optional(SkillRef),
      }),
      output: NewApiKey,
    },
    deleteApiKey: {
      auth: 'key',
      scope: 'manage',
      status: 204,
      summary:
        'Revoke an API key at once, as an administrator also that of another user, and with withMade also the keys and share links that it made',
      input: v.strictObject({
        id: Term,
        /** True: also revokes the keys and share links that the key made, directly or through other keys. */
        withMade: v.optional(Flag, false),
      }),
      output: NoContent,
    },
    getMe: {
      auth: 'key',
      summary: 'Show the signed-in user',
      input: v.object({}),
      output: Me,
    },
    updateMe: {
      auth: 'key',
      scope: 'manage',
      bodyBytesMax: 512 * 1024,
      summary: 'Update your display name, picture and e-mail address',
      input: v.strictObject({
        displayName: v.optional(readableText(limits.displayNameCharactersMax)),
        avatar: v.optional(v.nullable(Avatar)),
        /** The address for notices, on nodes that send e-mail. Null removes the address. */
        email: v.optional(v.nullable(v.pipe(v.string(), v.maxLength(254), v.email()))),
      }),
      output: Me,
    },
    createSession: {
      auth: 'key',
      status: 201,
      cookie: 'session',
      summary: 'Sign in to the dashboard: exchange an API key for a session cookie',
      input: v.strictObject({}),
      output: v.object({
        expiresAt: Timestamp,
        /** The session token, for calls in-process; over HTTP only the cookie contains it. */
        session: v.optional(v.string()),
      }),
    },
    getSession: {
      auth: 'none',
      open: true,
      summary: 'Show the signed-in user with the number of notices in the inbox, or null',
      input: v.object({}),
      output: v.object({ user: v.nullable(Me), notices: Count }),
    },
    deleteSession: {
      auth: 'none',
      status: 204,
      cookie: 'session',
      summary: 'Sign out of the dashboard',
      input: v.strictObject({}),
      output: NoContent,
    },
    listSessions: {
      auth: 'key',
      scope: 'manage',
      summary: 'List your sessions of the dashboard, or as an administrator those of a user',
      input: v.object({ username: v.optional(Term), page, limit: pageLimit() }),
      output: v.object({ sessions: v.array(Session), ...pageFields }),
    },
    endSession: {
      auth: 'key',
      scope: 'manage',
      status: 204,
      summary: 'End a session at once, as an administrator also that of another user',
      input: v.strictObject({ id: Term }),
      output: NoContent,
    },
  }),
  ...toEndpoints('Users', {
    getUser: {
      auth: 'none',
      summary: 'Show a user and their public skills',
      input: v.object({ ...username, page, limit: pageLimit() }),
      output: Profile,
    },
    getAvatar: {
      auth: 'none',
      summary: "Show a user's picture",
      input: v.object(username),
      output: ContentBody,
    },
    getFollow: {
      auth: 'key',
      summary: 'Show whether you follow a user',
      input: v.object(username),
      output: v.object({ following: v.boolean(), followers: Count }),
    },
    followUser: {
      auth: 'key',
      scope: 'manage',
      summary: 'Follow a user',
      input: v.strictObject(username),
      output: v.object({ following: v.boolean(), followers: Count }),
    },
    unfollowUser: {
      auth: 'key',
      scope: 'manage',
      summary: 'Stop following a user',
      input: v.strictObject(username),
      output: v.object({ following: v.boolean(), followers: Count }),
    },
  }),
  ...toEndpoints('Administration', {
    listUsers: {
      auth: 'admin',
      scope: 'manage',
      summary: 'List the users of the node',
      input: v.object({
        q: v.optional(boundedText(100, 0), ''),
        /** True: only users who can sign in. False: only authors of imported skills. Default: both. */
        claimed: v.optional(Flag),
        page,
        limit: pageLimit(),
      }),
      output: v.object({ users: v.array(User), ...pageFields }),
    },
    createUser: {
      auth: 'admin',
      scope: 'manage',
      status: 201,
      summary:
        'Create a user with a first key, which ends no later than yours, or hand over the namespace of an imported author',
      input: v.strictObject({ username: Username, plan: v.optional(Plan), role: v.optional(Role) }),
      output: v.object({ ...User.entries, key: v.string(), keyExpiresAt: v.optional(v.nullable(Timestamp)) }),
    },
    updateUser: {
      auth: 'admin',
      scope: 'manage',
      summary: "Change a user's plan or role, or disable the user",
      input: v.strictObject({
        ...username,
        plan: v.optional(Plan),
        role: v.optional(Role),
        disabled: v.optional(v.boolean()),
      }),
      output: User,
    },
    issueKey: {
      auth: 'admin',
      scope: 'manage',
      status: 201,
      summary:
        'Create an API key for a user who lost theirs, which ends no later than yours; only this response contains it',
      input: v.strictObject({
        ...username,
        name: v.optional(boundedText(100), 'issued by an administrator'),
        expiresInDays: v.optional(wholeNumber(1, 3650)),
        scopes: v.optional(boundedArray(Scope, 3, 1)),
      }),
      output: NewApiKey,
    },
    listAudit: {
      auth: 'admin',
      scope: 'manage',
      summary: 'List the audit log, newest first',
      input: v.object({ ...auditFilters, page, limit: pageLimit() }),
      output: v.object({ entries: v.array(AuditEntry), ...pageFields }),
    },
    exportAudit: {
      auth: 'admin',
      scope: 'manage',
      volatile: true,
      costly: true,
      summary: 'Export the audit log: one JSON line per entry, oldest first',
      input: v.object(auditFilters),
      output: ContentBody,
    },
  }),
}
