/** A requirement of the interface specification, and the test that holds it: its file, and words of its title. */
export interface Requirement {
  readonly section: string
  readonly says: string
  readonly file: string
  readonly title: string
}

/** One line a requirement: what it says, the test file, words of the title of the test. */
const bySection: Record<string, readonly (readonly [says: string, file: string, title: string])[]> = {
  '2.1': [
    ['the fields of a skill in a list', 'core/search', 'lists everything public without words'],
    ['the name is what paths use, the full name has its owner', 'core/visibility', 'means the first public skill'],
    ['latestVersion has three parts', 'core/publish', 'is latest by its number'],
    ['downloads are counted', 'core/downloads', 'are counted for SKILL.md and the archive'],
    ['stars are counted', 'core/ownership', 'counts once a user, and is taken back once'],
    [
      'securityScore is that of the latest version',
      'core/security',
      'of each version by itself, and of the skill by its latest',
    ],
    [
      'verified: a verified author and a safe scan',
      'core/security',
      'with a verified author and a safe latest version',
    ],
    ['publishedAt is ISO 8601 in UTC with milliseconds', 'core/read', 'shows the details of a skill'],
  ],
  '2.2': [
    ['the envelope counts and pages', 'core/search', 'has an empty page past the end, with the true total'],
    ['the envelope echoes the filters', 'core/search', 'filters by %j, echoes it'],
    ['stubs are left out by default, and a parameter brings them in', 'core/search', 'leaves stubs out unless'],
  ],
  '2.3': [
    ['an agent key is <platformId>:<instanceId>', 'core/agents', 'under keys of their platform'],
    [
      'an agent review has an agent key, a rating of 1 to 5 and a content',
      'core/agent-reviews',
      'no rating from one to five',
    ],
    [
      'a skill request has a title, a description and a status',
      'core/requests',
      'need a title, and take no other fields',
    ],
    ['an API key has an id and a name', 'core/accounts', 'is shown once, when it is made'],
    ['a heartbeat item has a skill name and a version', 'core/heartbeat', '%s %s %s: %o'],
    ['a copy report names the original and gives evidence', 'core/copies', 'name the original by its id'],
    ['a verification has a method and a proof', 'core/verification', 'answers with what to do, and a token'],
    ['an install has a source, agents and a repository', 'core/track', 'name a repository with the source github'],
    ['a scan takes an address or a content', 'core/external', 'by an address or a content and not both'],
  ],
  '2.4': [
    ['metadata has its ten fields', 'core/load', 'has the metadata of the specification, and nothing above its level'],
    ['contract, capabilities and a tool definition', 'core/load', 'adds contract, capabilities and a tool definition'],
    ['summary', 'core/load', 'adds the summary, and at full the document and all of its frontmatter'],
    ['version, by default the latest', 'core/load', 'is of the latest version, or of the one that is asked for'],
    ['maxTokens truncates to a budget', 'skill-format/loading-truncate', 'never exceeds it and is complete if it fits'],
    [
      'priority names the sections to keep',
      'skill-format/loading-truncate',
      'keeps the priority sections with their subsections first',
    ],
  ],
  '3': [
    ['a request goes through its states', 'core/requests', 'from $from to $to by $role'],
    ['a verification is by github, domain or manual', 'core/verification', '$method, from $from to $to'],
    ['a skill can be deprecated', 'core/heartbeat', 'in a sentence that says what to do'],
    ['a takedown goes through its states', 'core/dmca', 'from $from to $to'],
    ['a delivery ends with a 2xx', 'core/webhooks-deliveries', 'are shown with every attempt and when the next is due'],
    ['a delivery fails with its fifth attempt', 'core/webhooks-deliveries', 'fail after five attempts at the times'],
    ['a failed delivery can be tried again', 'core/webhooks-deliveries', 'at once when they failed, with 202'],
  ],
  '4.1': [
    ['GET /skills searches, pages and sorts', 'core/search', 'sorts by %s, ties by full name'],
    ['a key is needed to see private skills only', 'core/visibility', 'no list, completion, category, pack or feed'],
    ['GET /skills/<name>', 'core/read', 'shows the details of a skill, with every field'],
    ['GET /skills/<name>/skill.md', 'core/read', 'serves SKILL.md as it was published, byte for byte'],
    ['PUT /skills publishes', 'core/publish', 'is made with 201; the same content again is 200'],
    ['PUT /skills updates', 'core/publish', 'updates the skill with 200 and makes no version'],
    ['POST /skills/<name>/fork', 'core/ownership', 'has the latest content and number under its own name'],
    [
      'GET /skills/<name>/agent-reviews by recent, helpful or rating_high',
      'core/agent-reviews',
      "'recent', 'helpful', 'rating_high'",
    ],
    ['POST /skills/<name>/agent-reviews', 'core/agent-reviews', 'the first registers an unknown agent'],
    ['POST /skills/<name>/report-copy', 'core/copies', 'answer 201 with the similarity'],
    ['GET /skills/<name>/similarity', 'core/copies-similarity', 'says how much, what kind, who had it first'],
    [
      'GET /skills/<name>/provenance',
      'core/provenance',
      'says who published it and when, and proves that the log holds it',
    ],
  ],
  '4.2': [
    ['GET /packs', 'core/packs', 'are listed newest first, a page at a time'],
    ['GET /packs/<slug> with its skills', 'core/packs', 'with their skills in the given order'],
    ['POST /packs', 'core/packs', 'are made with 201, under a slug'],
  ],
  '4.3': [
    [
      'GET /agents by trust, activity, published or reviews',
      'core/agents',
      'of all platforms or one, twenty at a time',
    ],
    ['POST /agents', 'core/agents', 'with 201 and a token the first time'],
    ['GET /agents/<agentKey> with its activity', 'core/agents', 'newest first, fifty at most'],
    ['POST /heartbeat answers updates', 'core/heartbeat', 'the worst reason only'],
    [
      'POST /heartbeat answers recommendations',
      'core/recommendations',
      'are what several agents with similar skills have',
    ],
  ],
  '4.4': [
    ['GET /requests by status, votes or recent', 'core/requests', 'are listed by votes, the newest first among equals'],
    ['POST /requests without a key', 'core/requests', 'are made with 201 by anybody'],
  ],
  '4.5': [
    ['GET and POST /api-keys', 'core/accounts', 'is shown once, when it is made, and never again'],
    ['DELETE /api-keys/<id>', 'core/accounts', 'stops working at once when it is deleted'],
    ['GET /users/me', 'core/accounts', 'sees himself, with his counts'],
  ],
  '4.6': [
    ['GET /users/<username>/reputation', 'core/reputation', 'rises with stars, reviews, downloads'],
    ['POST /users/<username>/verify', 'core/verification', 'is proved by a file, on a line of its own'],
    [
      'GET /reputation/leaderboard, 10 unless told, 100 at most',
      'core/reputation',
      'gives ten unless it is told another number',
    ],
  ],
  '4.7': [
    ['POST /dmca', 'core/dmca', 'by anyone, with 201'],
    ['GET /dmca/<id>', 'core/dmca', 'by everybody as a status and dates'],
    ['POST /dmca/<id>/counter-notice', 'core/dmca', 'of the owner’s key: the case moves'],
  ],
  '4.8': [
    ['GET /external by registry, verified ones, limit', 'core/external', 'is listed by installs, then by name'],
    ['POST /external/scan by address', 'core/external', 'are scanned by an address, whatever form it has'],
    ['POST /external/scan by content', 'core/external', 'are scanned by their content'],
    ['POST /track', 'core/track', 'are accepted from anybody with 202'],
    ['POST /track of an external skill', 'core/external', 'bring an unknown one of GitHub into the index'],
    ['GET /trending by period, category, limit', 'core/track', 'can be asked for by category, and up to a limit'],
  ],
  '4.9': [
    ['GET /webhooks', 'core/webhooks', 'are listed newest first, a page at a time'],
    ['POST /webhooks', 'core/webhooks', 'are made with 201'],
    ['POST /webhooks with a secret', 'core/webhooks', 'take a secret that is given'],
    ['GET /webhooks/<id> with its deliveries', 'core/webhooks-deliveries', 'are shown newest first, a hundred at most'],
    ['PATCH /webhooks/<id>', 'core/webhooks', 'in their %s alone'],
    ['DELETE /webhooks/<id>', 'core/webhooks', 'are deleted with 204'],
    ['Pro plan and above', 'core/webhooks', 'need a key, of the Pro plan or a higher one'],
  ],
  '6': [
    ['a webhook subscribes to a subset of the events', 'core/webhook-events-readers', 'a webhook of some events alone'],
    [
      'the envelope has the event, the time and the data',
      'core/webhook-events',
      'carry the time of their cause, and one id',
    ],
    ['skill.published', 'core/webhook-events', 'tell of a new skill and of each new version'],
    ['securityScore is a number', 'core/webhook-events', 'carry the score of what SKILL.md and the text files'],
    ['skill.downloaded', 'core/webhook-events-downloads', 'are one for each that is counted, with the count after it'],
    ['client is the name of the client', 'core/webhook-events-downloads', 'name the client by its headers'],
    ['skill.starred', 'core/webhook-events', 'tell of a star, with how many there are'],
    ['skill.review.created', 'core/webhook-events', 'tell of a review'],
    ['skill.issue.created', 'core/webhook-events', 'tell of an issue: %s'],
    ['user.followed', 'core/webhook-events', 'tell of a follower, with how many there are'],
  ],
}

export const requirements: readonly Requirement[] = Object.entries(bySection).flatMap(([section, rows]) =>
  rows.map(([says, file, title]) => ({ section, says, file: `../${file}.test.ts`, title })),
)
