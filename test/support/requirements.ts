/** A requirement of the base API in docs/api.md, and the test that holds it: its file, and words of its title. */
export interface Requirement {
  /** The anchor of a section of docs/api.md. */
  readonly section: string
  readonly says: string
  readonly file: string
  readonly title: string
}

/** Each requirement: what it says, the test file, words of the title of the test. */
const bySection: Record<string, readonly (readonly [says: string, file: string, title: string])[]> = {
  'keys-and-guests': [
    ['guests get 401 where a key is required', 'core/accounts', 'guests get the error `unauthorized`'],
  ],
  limits: [
    ['the limit depends on the plan', 'server/callers', 'have a rate limit per user, which depends on the plan'],
  ],
  skills: [
    ['GET /skills searches, pages and sorts', 'core/search', 'sorts by %s, ties by full name'],
    [
      'a key is needed to see private skills only',
      'core/visibility',
      'is in no list, completion, category, pack or feed, and its blobs are not served',
    ],
    ['GET /skills/<name>', 'core/read', 'shows the details of a skill, with every field'],
    ['GET /skills/<name>/skill.md', 'core/read', 'serves SKILL.md as published, byte for byte'],
    [
      'PUT /skills publishes',
      'core/publish',
      'is created with 201; the same content again returns 200 and creates nothing',
    ],
    ['PUT /skills updates', 'core/publish', 'updates the skill with 200 and creates no version'],
    [
      'POST /skills/<name>/fork',
      'core/ownership',
      'has the latest content and version number of its source under its own name, and names the source',
    ],
    [
      'GET /skills/<name>/agent-reviews by recent, helpful or rating_high',
      'core/agent-reviews',
      "'recent', 'helpful', 'rating_high'",
    ],
    [
      'POST /skills/<name>/agent-reviews',
      'core/agent-reviews',
      'registers an unknown agent the first time, and returns its token once',
    ],
    ['POST /skills/<name>/report-copy', 'core/copies', 'return 201 with the similarity of the latest versions'],
    [
      'GET /skills/<name>/similarity',
      'core/copies-similarity',
      'is returned with its kind, the earlier skill, and the shared passages with their line numbers',
    ],
    [
      'GET /skills/<name>/provenance',
      'core/provenance',
      'shows who published it and when, and proves that the log contains it',
    ],
    [
      'an agent review has an agent key, a rating of 1 to 5 and a content',
      'core/agent-reviews',
      'is accepted with a rating from 1 to 5 and at most 4000 UTF-16 code units',
    ],
    [
      'a copy report names the original and gives evidence',
      'core/copies',
      'can refer to the original by its id, full name or short name',
    ],
  ],
  'a-skill-in-a-list': [
    [
      'the fields of a skill in a list',
      'core/search',
      'lists all public skills without a query, most downloaded first, ties by full name',
    ],
    ['the name is what paths use, the full name has its owner', 'core/visibility', 'means the first public skill'],
    ['latestVersion has three parts', 'core/publish', 'is latest by its number'],
    [
      'downloads are counted',
      'core/downloads',
      'of SKILL.md and the archive are counted and shown in lists, except downloads by the owner',
    ],
    ['stars are counted', 'core/ownership', 'counts once per user, and can be removed once'],
    [
      'securityScore is that of the latest version',
      'core/security',
      'for each version separately, and for the skill from its latest version',
    ],
    [
      'verified: a verified author and a safe scan',
      'core/security',
      'only while the author is verified and the latest version is safe',
    ],
    ['publishedAt is ISO 8601 in UTC with milliseconds', 'core/read', 'shows the details of a skill'],
    ['a skill can be deprecated', 'core/heartbeat', 'contains a message with advice'],
  ],
  'search-results': [
    ['the envelope counts and pages', 'core/search', 'has an empty page past the end, with the true total'],
    ['the envelope echoes the filters', 'core/search', 'filters by %j, and returns the filter'],
    ['stubs are left out by default, and a parameter brings them in', 'core/search', 'omits stubs by default'],
  ],
  'a-loaded-skill': [
    [
      'metadata has its ten fields',
      'core/load',
      '`metadata` returns the fields of docs/api.md, and no fields of higher levels',
    ],
    [
      'contract, capabilities and a tool definition',
      'core/load',
      '`contract` adds the contract, capabilities and a tool definition',
    ],
    ['summary', 'core/load', '`summary` adds the summary, and `full` adds the document and its whole frontmatter'],
    [
      'version, by default the latest',
      'core/load',
      'returns the latest version, or the requested version with the metadata of that version',
    ],
    [
      'maxTokens truncates to a budget',
      'skill-format/loading-truncate',
      'never exceeds the budget, and is complete if the whole skill fits, for any document',
    ],
    [
      'priority names the sections to keep',
      'skill-format/loading-truncate',
      'keeps the priority sections and their subsections first, however their names are spelled',
    ],
  ],
  packs: [
    ['GET /packs', 'core/packs', 'are listed newest first, in pages, and can be filtered by search words'],
    [
      'GET /packs/<slug> with its skills',
      'core/packs',
      'are created with a slug made from their name, and keep their skills in the given order',
    ],
    [
      'POST /packs',
      'core/packs',
      'are created with a slug made from their name, and keep their skills in the given order',
    ],
  ],
  agents: [
    [
      'GET /agents by trust, activity, published or reviews',
      'core/agents',
      'can be limited to one platform, and has pages of twenty',
    ],
    ['POST /agents', 'core/agents', 'returns 201 with a token the first time, and 200 without a token afterwards'],
    ['GET /agents/<agentKey> with its activity', 'core/agents', 'is listed newest first, at most fifty actions'],
    [
      'POST /heartbeat answers updates',
      'core/heartbeat',
      'contains only the most severe reason, even if the heartbeat lists the skill twice',
    ],
    [
      'POST /heartbeat answers recommendations',
      'core/recommendations',
      'include installable skills of several agents with similar skills',
    ],
    [
      'an agent key is <platformId>:<instanceId>',
      'core/agents',
      'requires an agent key that begins with the platform id',
    ],
    ['a heartbeat item has a skill name and a version', 'core/heartbeat', 'for skill %s, version %s, digest %s is %o'],
  ],
  'skill-requests': [
    [
      'GET /requests by status, votes or recent',
      'core/requests',
      'are listed by votes or newest first, filtered by status, in pages',
    ],
    [
      'POST /requests without a key',
      'core/requests',
      'are created with 201 by anyone, and show their author unless a guest created them',
    ],
    [
      'a skill request has a title, a description and a status',
      'core/requests',
      'require a title, and accept no unknown fields',
    ],
    ['a request goes through its states', 'core/requests', 'can change from $from to $to by $role'],
  ],
  'keys-and-users': [
    ['GET and POST /api-keys', 'core/accounts', 'is shown only in the response that creates it'],
    ['DELETE /api-keys/<id>', 'core/accounts', 'stops working at once when it is deleted'],
    ['GET /users/me', 'core/accounts', 'can read their own profile with its counts'],
    ['an API key has an id and a name', 'core/accounts', 'is shown only in the response that creates it'],
  ],
  reputation: [
    ['GET /users/<username>/reputation', 'core/reputation', 'rises with stars, reviews, downloads'],
    ['POST /users/<username>/verify', 'core/verification', 'is proved by a file, with the token on its own line'],
    [
      'GET /reputation/leaderboard, 10 unless told, 100 at most',
      'core/reputation',
      'returns ten authors by default, and at most a hundred',
    ],
    [
      'a verification has a method and a proof',
      'core/verification',
      'returns instructions, and a token for the user and the node',
    ],
    [
      'a verification is by github, domain or manual',
      'core/verification',
      'changes from $from to $to for method $method',
    ],
  ],
  takedowns: [
    ['POST /dmca', 'core/dmca', 'by anyone, with 201'],
    ['GET /dmca/<id>', 'core/dmca', 'by everyone, but only with their status and dates'],
    ['POST /dmca/<id>/counter-notice', 'core/dmca', 'from the owner, and then have a new status and a deadline'],
    ['a takedown goes through its states', 'core/dmca', 'from $from to $to if an administrator decides'],
  ],
  'external-skills-and-installs': [
    [
      'GET /external by registry, verified ones, limit',
      'core/external',
      'is sorted by installs, then by name, in pages, and can be limited to one registry',
    ],
    ['POST /external/scan by address', 'core/external', 'are scanned by the URL of a GitHub page, a file or a folder'],
    ['POST /external/scan by content', 'core/external', 'are scanned by content, with the location of each finding'],
    ['POST /track', 'core/track', 'are accepted from anyone with 202, and counted as installs and downloads'],
    [
      'POST /track of an external skill',
      'core/external',
      'cause an unknown GitHub skill to be indexed and scanned, and create a placeholder for the skill',
    ],
    ['GET /trending by period, category, limit', 'core/track', 'can be filtered by category and limited'],
    [
      'an install has a source, agents and a repository',
      'core/track',
      'must name a repository if and only if the source is github',
    ],
    [
      'a scan takes an address or a content',
      'core/external',
      'are scanned only for signed-in users, by either a URL or content',
    ],
  ],
  'webhooks-of-a-user': [
    ['GET /webhooks', 'core/webhooks', 'are listed newest first, in pages, only to their owner'],
    ['POST /webhooks', 'core/webhooks', 'are created with 201, with a secret that is shown once'],
    ['POST /webhooks with a secret', 'core/webhooks', 'accept a given secret, and never return it'],
    [
      'GET /webhooks/<id> with its deliveries',
      'core/webhooks-deliveries',
      'are listed newest first, up to a hundred, and the list of webhooks shows the newest delivery',
    ],
    ['PATCH /webhooks/<id>', 'core/webhooks', 'only in their %s if no other field is given'],
    ['DELETE /webhooks/<id>', 'core/webhooks', 'are deleted with 204'],
    ['Pro plan and above', 'core/webhooks', 'require a key with the scope `manage`, and the Pro plan or higher'],
  ],
  events: [
    ['a webhook subscribes to a subset of the events', 'core/webhook-events-readers', 'a webhook with selected events'],
    [
      'the envelope has the event, the time and the data',
      'core/webhook-events',
      'have the time of the action that caused them, and the same id for all receivers',
    ],
    ['skill.published', 'core/webhook-events', 'are sent for a new skill and each new version'],
    ['securityScore is a number', 'core/webhook-events', 'have the score of SKILL.md and the other text files'],
    ['skill.downloaded', 'core/webhook-events-downloads', 'are sent once per counted download, with the new count: %s'],
    ['client is the name of the client', 'core/webhook-events-downloads', 'name the client by its headers'],
    ['skill.starred', 'core/webhook-events', 'are sent for a star, with the number of stars'],
    ['skill.review.created', 'core/webhook-events', 'are sent for a review'],
    ['skill.issue.created', 'core/webhook-events', 'are sent for an issue: %s'],
    ['user.followed', 'core/webhook-events', 'are sent for a follower, with the number of followers'],
  ],
  deliveries: [
    ['a delivery ends with a 2xx', 'core/webhooks-deliveries', 'are shown with every attempt and the next due time'],
    [
      'a delivery fails with its fifth attempt',
      'core/webhooks-deliveries',
      'fail after five scheduled attempts, each with its reason',
    ],
    [
      'a failed delivery can be retried',
      'core/webhooks-deliveries',
      'at once if they failed: the response is 202, and the event stays the same',
    ],
    [
      'X-Service-Signature is keyed with the secret',
      'core/webhook-delivery',
      'is signed once with the whole text of the secret',
    ],
  ],
  versions: [['a version never changes', 'core/publish', 'succeeds only with the same content']],
}

export const requirements: readonly Requirement[] = Object.entries(bySection).flatMap(([section, rows]) =>
  rows.map(([says, file, title]) => ({ section, says, file: `../${file}.test.ts`, title })),
)
